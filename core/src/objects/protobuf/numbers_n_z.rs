//! The numbers of the fields of protobuf messages, types N to Z: see `protobuf/mod.rs` for the notation.
//!
//! Source: the tags `protobuf` of k8s.io/api */v1/types.go and k8s.io/apimachinery pkg/apis/meta/v1/types.go (v1.34).

/// A line each.
pub(super) const N_TO_Z: &str = "\
NFSVolumeSource = server:1:str path:2:str readOnly:3:bool\n\
NamedRuleWithOperations = resourceNames:1:[str] ^:2:RuleWithOperations\n\
Namespace = metadata:1:ObjectMeta spec:2:NamespaceSpec status:3:NamespaceStatus\n\
NamespaceCondition = type:1:str status:2:str lastTransitionTime:4:time reason:5:str message:6:str\n\
NamespaceSpec = finalizers:1:[str]\n\
NamespaceStatus = phase:1:str conditions:2:[NamespaceCondition]\n\
NetworkDeviceData = interfaceName:1:str ips:2:[str] hardwareAddress:3:str\n\
NetworkPolicy = metadata:1:ObjectMeta spec:2:NetworkPolicySpec\n\
NetworkPolicyEgressRule = ports:1:[NetworkPolicyPort] to:2:[NetworkPolicyPeer]\n\
NetworkPolicyIngressRule = ports:1:[NetworkPolicyPort] from:2:[NetworkPolicyPeer]\n\
NetworkPolicyPeer = podSelector:1:LabelSelector* namespaceSelector:2:LabelSelector* ipBlock:3:IPBlock*\n\
NetworkPolicyPort = protocol:1:str* port:2:intstr* endPort:3:int*\n\
NetworkPolicySpec = podSelector:1:LabelSelector ingress:2:[NetworkPolicyIngressRule] \
    egress:3:[NetworkPolicyEgressRule] policyTypes:4:[str]\n\
Node = metadata:1:ObjectMeta spec:2:NodeSpec status:3:NodeStatus\n\
NodeAddress = type:1:str address:2:str\n\
NodeAffinity = requiredDuringSchedulingIgnoredDuringExecution:1:NodeSelector* \
    preferredDuringSchedulingIgnoredDuringExecution:2:[PreferredSchedulingTerm]\n\
NodeCondition = type:1:str status:2:str lastHeartbeatTime:3:time lastTransitionTime:4:time reason:5:str \
    message:6:str\n\
NodeConfigSource = configMap:2:ConfigMapNodeConfigSource*\n\
NodeConfigStatus = assigned:1:NodeConfigSource* active:2:NodeConfigSource* lastKnownGood:3:NodeConfigSource* \
    error:4:str\n\
NodeDaemonEndpoints = kubeletEndpoint:1:DaemonEndpoint\n\
NodeFeatures = supplementalGroupsPolicy:1:bool*\n\
NodeRuntimeHandler = name:1:str features:2:NodeRuntimeHandlerFeatures*\n\
NodeRuntimeHandlerFeatures = recursiveReadOnlyMounts:1:bool* userNamespaces:2:bool*\n\
NodeSelector = nodeSelectorTerms:1:[NodeSelectorTerm]\n\
NodeSelectorRequirement = key:1:str operator:2:str values:3:[str]\n\
NodeSelectorTerm = matchExpressions:1:[NodeSelectorRequirement] matchFields:2:[NodeSelectorRequirement]\n\
NodeSpec = podCIDR:1:str externalID:2:str providerID:3:str unschedulable:4:bool taints:5:[Taint] \
    configSource:6:NodeConfigSource* podCIDRs:7:[str]\n\
NodeStatus = capacity:1:{quantity} allocatable:2:{quantity} phase:3:str conditions:4:[NodeCondition] \
    addresses:5:[NodeAddress] daemonEndpoints:6:NodeDaemonEndpoints nodeInfo:7:NodeSystemInfo \
    images:8:[ContainerImage] volumesInUse:9:[str] volumesAttached:10:[AttachedVolume] config:11:NodeConfigStatus* \
    runtimeHandlers:12:[NodeRuntimeHandler] features:13:NodeFeatures*\n\
NodeSwapStatus = capacity:1:int*\n\
NodeSystemInfo = machineID:1:str systemUUID:2:str bootID:3:str kernelVersion:4:str osImage:5:str \
    containerRuntimeVersion:6:str kubeletVersion:7:str kubeProxyVersion:8:str operatingSystem:9:str \
    architecture:10:str swap:11:NodeSwapStatus*\n\
NonResourceAttributes = path:1:str verb:2:str\n\
NonResourcePolicyRule = verbs:1:[str] nonResourceURLs:6:[str]\n\
NonResourceRule = verbs:1:[str] nonResourceURLs:2:[str]\n\
ObjectFieldSelector = apiVersion:1:str fieldPath:2:str\n\
ObjectMeta = name:1:str generateName:2:str namespace:3:str selfLink:4:str uid:5:str resourceVersion:6:str \
    generation:7:int creationTimestamp:8:time deletionTimestamp:9:time* deletionGracePeriodSeconds:10:int* \
    labels:11:{str} annotations:12:{str} ownerReferences:13:[OwnerReference] finalizers:14:[str] \
    managedFields:17:[ManagedFieldsEntry]\n\
ObjectMetricSource = describedObject:1:CrossVersionObjectReference target:2:MetricTarget metric:3:MetricIdentifier\n\
ObjectMetricStatus = metric:1:MetricIdentifier current:2:MetricValueStatus \
    describedObject:3:CrossVersionObjectReference\n\
ObjectReference = kind:1:str namespace:2:str name:3:str uid:4:str apiVersion:5:str resourceVersion:6:str \
    fieldPath:7:str\n\
OpaqueDeviceConfiguration = driver:1:str parameters:2:raw\n\
Overhead = podFixed:1:{quantity}\n\
OwnerReference = kind:1:str name:3:str uid:4:str apiVersion:5:str controller:6:bool* blockOwnerDeletion:7:bool*\n\
ParamKind = apiVersion:1:str kind:2:str\n\
ParamRef = name:1:str namespace:2:str selector:3:LabelSelector* parameterNotFoundAction:4:str*\n\
ParentReference = group:1:str resource:2:str namespace:3:str name:4:str\n\
PartialObjectMetadata = metadata:1:ObjectMeta\n\
PersistentVolume = metadata:1:ObjectMeta spec:2:PersistentVolumeSpec status:3:PersistentVolumeStatus\n\
PersistentVolumeClaim = metadata:1:ObjectMeta spec:2:PersistentVolumeClaimSpec status:3:PersistentVolumeClaimStatus\n\
PersistentVolumeClaimCondition = type:1:str status:2:str lastProbeTime:3:time lastTransitionTime:4:time reason:5:str \
    message:6:str\n\
PersistentVolumeClaimSpec = accessModes:1:[str] resources:2:VolumeResourceRequirements volumeName:3:str \
    selector:4:LabelSelector* storageClassName:5:str* volumeMode:6:str* dataSource:7:TypedLocalObjectReference* \
    dataSourceRef:8:TypedObjectReference* volumeAttributesClassName:9:str*\n\
PersistentVolumeClaimStatus = phase:1:str accessModes:2:[str] capacity:3:{quantity} \
    conditions:4:[PersistentVolumeClaimCondition] allocatedResources:5:{quantity} allocatedResourceStatuses:7:{str} \
    currentVolumeAttributesClassName:8:str* modifyVolumeStatus:9:ModifyVolumeStatus*\n\
PersistentVolumeClaimTemplate = metadata:1:ObjectMeta spec:2:PersistentVolumeClaimSpec\n\
PersistentVolumeClaimVolumeSource = claimName:1:str readOnly:2:bool\n\
PersistentVolumeSource = gcePersistentDisk:1:GCEPersistentDiskVolumeSource* \
    awsElasticBlockStore:2:AWSElasticBlockStoreVolumeSource* hostPath:3:HostPathVolumeSource* \
    glusterfs:4:GlusterfsPersistentVolumeSource* nfs:5:NFSVolumeSource* rbd:6:RBDPersistentVolumeSource* \
    iscsi:7:ISCSIPersistentVolumeSource* cinder:8:CinderPersistentVolumeSource* \
    cephfs:9:CephFSPersistentVolumeSource* fc:10:FCVolumeSource* flocker:11:FlockerVolumeSource* \
    flexVolume:12:FlexPersistentVolumeSource* azureFile:13:AzureFilePersistentVolumeSource* \
    vsphereVolume:14:VsphereVirtualDiskVolumeSource* quobyte:15:QuobyteVolumeSource* \
    azureDisk:16:AzureDiskVolumeSource* photonPersistentDisk:17:PhotonPersistentDiskVolumeSource* \
    portworxVolume:18:PortworxVolumeSource* scaleIO:19:ScaleIOPersistentVolumeSource* local:20:LocalVolumeSource* \
    storageos:21:StorageOSPersistentVolumeSource* csi:22:CSIPersistentVolumeSource*\n\
PersistentVolumeSpec = capacity:1:{quantity} ^:2:PersistentVolumeSource accessModes:3:[str] \
    claimRef:4:ObjectReference* persistentVolumeReclaimPolicy:5:str storageClassName:6:str mountOptions:7:[str] \
    volumeMode:8:str* nodeAffinity:9:VolumeNodeAffinity* volumeAttributesClassName:10:str*\n\
PersistentVolumeStatus = phase:1:str message:2:str reason:3:str lastPhaseTransitionTime:4:time*\n\
PhotonPersistentDiskVolumeSource = pdID:1:str fsType:2:str\n\
Pod = metadata:1:ObjectMeta spec:2:PodSpec status:3:PodStatus\n\
PodAffinity = requiredDuringSchedulingIgnoredDuringExecution:1:[PodAffinityTerm] \
    preferredDuringSchedulingIgnoredDuringExecution:2:[WeightedPodAffinityTerm]\n\
PodAffinityTerm = labelSelector:1:LabelSelector* namespaces:2:[str] topologyKey:3:str \
    namespaceSelector:4:LabelSelector* matchLabelKeys:5:[str] mismatchLabelKeys:6:[str]\n\
PodAntiAffinity = requiredDuringSchedulingIgnoredDuringExecution:1:[PodAffinityTerm] \
    preferredDuringSchedulingIgnoredDuringExecution:2:[WeightedPodAffinityTerm]\n\
PodCertificateProjection = signerName:1:str keyType:2:str maxExpirationSeconds:3:int* credentialBundlePath:4:str \
    keyPath:5:str certificateChainPath:6:str\n\
PodCondition = type:1:str status:2:str lastProbeTime:3:time lastTransitionTime:4:time reason:5:str message:6:str \
    observedGeneration:7:int\n\
PodDNSConfig = nameservers:1:[str] searches:2:[str] options:3:[PodDNSConfigOption]\n\
PodDNSConfigOption = name:1:str value:2:str*\n\
PodDisruptionBudget = metadata:1:ObjectMeta spec:2:PodDisruptionBudgetSpec status:3:PodDisruptionBudgetStatus\n\
PodDisruptionBudgetSpec = minAvailable:1:intstr* selector:2:LabelSelector* maxUnavailable:3:intstr* \
    unhealthyPodEvictionPolicy:4:str*\n\
PodDisruptionBudgetStatus = observedGeneration:1:int disruptedPods:2:{time} disruptionsAllowed:3:int \
    currentHealthy:4:int desiredHealthy:5:int expectedPods:6:int conditions:7:[Condition]\n\
PodExtendedResourceClaimStatus = requestMappings:1:[ContainerExtendedResourceRequest] resourceClaimName:2:str\n\
PodFailurePolicy = rules:1:[PodFailurePolicyRule]\n\
PodFailurePolicyOnExitCodesRequirement = containerName:1:str* operator:2:str values:3:[int]\n\
PodFailurePolicyOnPodConditionsPattern = type:1:str status:2:str\n\
PodFailurePolicyRule = action:1:str onExitCodes:2:PodFailurePolicyOnExitCodesRequirement* \
    onPodConditions:3:[PodFailurePolicyOnPodConditionsPattern]\n\
PodIP = ip:1:str\n\
PodOS = name:1:str\n\
PodReadinessGate = conditionType:1:str\n\
PodResourceClaim = name:1:str resourceClaimName:3:str* resourceClaimTemplateName:4:str*\n\
PodResourceClaimStatus = name:1:str resourceClaimName:2:str*\n\
PodSchedulingGate = name:1:str\n\
PodSecurityContext = seLinuxOptions:1:SELinuxOptions* runAsUser:2:int* runAsNonRoot:3:bool* \
    supplementalGroups:4:[int] fsGroup:5:int* runAsGroup:6:int* sysctls:7:[Sysctl] \
    windowsOptions:8:WindowsSecurityContextOptions* fsGroupChangePolicy:9:str* seccompProfile:10:SeccompProfile* \
    appArmorProfile:11:AppArmorProfile* supplementalGroupsPolicy:12:str* seLinuxChangePolicy:13:str*\n\
PodSpec = volumes:1:[Volume] containers:2:[Container] restartPolicy:3:str terminationGracePeriodSeconds:4:int* \
    activeDeadlineSeconds:5:int* dnsPolicy:6:str nodeSelector:7:{str} serviceAccountName:8:str serviceAccount:9:str \
    nodeName:10:str hostNetwork:11:bool hostPID:12:bool hostIPC:13:bool securityContext:14:PodSecurityContext* \
    imagePullSecrets:15:[LocalObjectReference] hostname:16:str subdomain:17:str affinity:18:Affinity* \
    schedulerName:19:str initContainers:20:[Container] automountServiceAccountToken:21:bool* \
    tolerations:22:[Toleration] hostAliases:23:[HostAlias] priorityClassName:24:str priority:25:int* \
    dnsConfig:26:PodDNSConfig* shareProcessNamespace:27:bool* readinessGates:28:[PodReadinessGate] \
    runtimeClassName:29:str* enableServiceLinks:30:bool* preemptionPolicy:31:str* overhead:32:{quantity} \
    topologySpreadConstraints:33:[TopologySpreadConstraint] ephemeralContainers:34:[EphemeralContainer] \
    setHostnameAsFQDN:35:bool* os:36:PodOS* hostUsers:37:bool* schedulingGates:38:[PodSchedulingGate] \
    resourceClaims:39:[PodResourceClaim] resources:40:ResourceRequirements* hostnameOverride:41:str*\n\
PodStatus = phase:1:str conditions:2:[PodCondition] message:3:str reason:4:str hostIP:5:str podIP:6:str \
    startTime:7:time* containerStatuses:8:[ContainerStatus] qosClass:9:str \
    initContainerStatuses:10:[ContainerStatus] nominatedNodeName:11:str podIPs:12:[PodIP] \
    ephemeralContainerStatuses:13:[ContainerStatus] resize:14:str resourceClaimStatuses:15:[PodResourceClaimStatus] \
    hostIPs:16:[HostIP] observedGeneration:17:int extendedResourceClaimStatus:18:PodExtendedResourceClaimStatus*\n\
PodTemplate = metadata:1:ObjectMeta template:2:PodTemplateSpec\n\
PodTemplateSpec = metadata:1:ObjectMeta spec:2:PodSpec\n\
PodsMetricSource = metric:1:MetricIdentifier target:2:MetricTarget\n\
PodsMetricStatus = metric:1:MetricIdentifier current:2:MetricValueStatus\n\
PolicyRule = verbs:1:[str] apiGroups:2:[str] resources:3:[str] resourceNames:4:[str] nonResourceURLs:5:[str]\n\
PolicyRulesWithSubjects = subjects:1:[flowcontrol.Subject] resourceRules:2:[ResourcePolicyRule] \
    nonResourceRules:3:[NonResourcePolicyRule]\n\
PortStatus = port:1:int protocol:2:str error:3:str*\n\
PortworxVolumeSource = volumeID:1:str fsType:2:str readOnly:3:bool\n\
Preconditions = uid:1:str* resourceVersion:2:str*\n\
PreferredSchedulingTerm = weight:1:int preference:2:NodeSelectorTerm\n\
PriorityClass = metadata:1:ObjectMeta value:2:int globalDefault:3:bool description:4:str preemptionPolicy:5:str*\n\
PriorityLevelConfiguration = metadata:1:ObjectMeta spec:2:PriorityLevelConfigurationSpec \
    status:3:PriorityLevelConfigurationStatus\n\
PriorityLevelConfigurationCondition = type:1:str status:2:str lastTransitionTime:3:time reason:4:str message:5:str\n\
PriorityLevelConfigurationReference = name:1:str\n\
PriorityLevelConfigurationSpec = type:1:str limited:2:LimitedPriorityLevelConfiguration* \
    exempt:3:ExemptPriorityLevelConfiguration*\n\
PriorityLevelConfigurationStatus = conditions:1:[PriorityLevelConfigurationCondition]\n\
Probe = ^:1:ProbeHandler initialDelaySeconds:2:int timeoutSeconds:3:int periodSeconds:4:int successThreshold:5:int \
    failureThreshold:6:int terminationGracePeriodSeconds:7:int*\n\
ProbeHandler = exec:1:ExecAction* httpGet:2:HTTPGetAction* tcpSocket:3:TCPSocketAction* grpc:4:GRPCAction*\n\
ProjectedVolumeSource = sources:1:[VolumeProjection] defaultMode:2:int*\n\
QueuingConfiguration = queues:1:int handSize:2:int queueLengthLimit:3:int\n\
QuobyteVolumeSource = registry:1:str volume:2:str readOnly:3:bool user:4:str group:5:str tenant:6:str\n\
RBDPersistentVolumeSource = monitors:1:[str] image:2:str fsType:3:str pool:4:str user:5:str keyring:6:str \
    secretRef:7:SecretReference* readOnly:8:bool\n\
RBDVolumeSource = monitors:1:[str] image:2:str fsType:3:str pool:4:str user:5:str keyring:6:str \
    secretRef:7:LocalObjectReference* readOnly:8:bool\n\
ReplicaSet = metadata:1:ObjectMeta spec:2:ReplicaSetSpec status:3:ReplicaSetStatus\n\
ReplicaSetCondition = type:1:str status:2:str lastTransitionTime:3:time reason:4:str message:5:str\n\
ReplicaSetSpec = replicas:1:int* selector:2:LabelSelector* template:3:PodTemplateSpec minReadySeconds:4:int\n\
ReplicaSetStatus = replicas:1:int fullyLabeledReplicas:2:int observedGeneration:3:int readyReplicas:4:int \
    availableReplicas:5:int conditions:6:[ReplicaSetCondition] terminatingReplicas:7:int*\n\
ReplicationController = metadata:1:ObjectMeta spec:2:ReplicationControllerSpec status:3:ReplicationControllerStatus\n\
ReplicationControllerCondition = type:1:str status:2:str lastTransitionTime:3:time reason:4:str message:5:str\n\
ReplicationControllerSpec = replicas:1:int* selector:2:{str} template:3:PodTemplateSpec* minReadySeconds:4:int\n\
ReplicationControllerStatus = replicas:1:int fullyLabeledReplicas:2:int observedGeneration:3:int readyReplicas:4:int \
    availableReplicas:5:int conditions:6:[ReplicationControllerCondition]\n\
ResourceAttributes = namespace:1:str verb:2:str group:3:str version:4:str resource:5:str subresource:6:str \
    name:7:str fieldSelector:8:FieldSelectorAttributes* labelSelector:9:LabelSelectorAttributes*\n\
ResourceClaim = name:1:str request:2:str\n\
ResourceClaimConsumerReference = apiGroup:1:str resource:3:str name:4:str uid:5:str\n\
ResourceClaimSpec = devices:1:DeviceClaim\n\
ResourceClaimStatus = allocation:1:AllocationResult* reservedFor:2:[ResourceClaimConsumerReference] \
    devices:4:[AllocatedDeviceStatus]\n\
ResourceClaimTemplate = metadata:1:ObjectMeta spec:2:ResourceClaimTemplateSpec\n\
ResourceClaimTemplateSpec = metadata:1:ObjectMeta spec:2:ResourceClaimSpec\n\
ResourceFieldSelector = containerName:1:str resource:2:str divisor:3:quantity\n\
ResourceHealth = resourceID:1:str health:2:str\n\
ResourceMetricSource = name:1:str target:2:MetricTarget\n\
ResourceMetricStatus = name:1:str current:2:MetricValueStatus\n\
ResourcePolicyRule = verbs:1:[str] apiGroups:2:[str] resources:3:[str] clusterScope:4:bool namespaces:5:[str]\n\
ResourcePool = name:1:str generation:2:int resourceSliceCount:3:int\n\
ResourceQuota = metadata:1:ObjectMeta spec:2:ResourceQuotaSpec status:3:ResourceQuotaStatus\n\
ResourceQuotaSpec = hard:1:{quantity} scopes:2:[str] scopeSelector:3:ScopeSelector*\n\
ResourceQuotaStatus = hard:1:{quantity} used:2:{quantity}\n\
ResourceRequirements = limits:1:{quantity} requests:2:{quantity} claims:3:[ResourceClaim]\n\
ResourceRule = verbs:1:[str] apiGroups:2:[str] resources:3:[str] resourceNames:4:[str]\n\
ResourceSlice = metadata:1:ObjectMeta spec:2:ResourceSliceSpec\n\
ResourceSliceSpec = driver:1:str pool:2:ResourcePool nodeName:3:str* nodeSelector:4:NodeSelector* allNodes:5:bool* \
    devices:6:[Device] perDeviceNodeSelection:7:bool* sharedCounters:8:[CounterSet]\n\
ResourceStatus = name:1:str resources:2:[ResourceHealth]\n\
Role = metadata:1:ObjectMeta rules:2:[PolicyRule]\n\
RoleBinding = metadata:1:ObjectMeta subjects:2:[Subject] roleRef:3:RoleRef\n\
RoleRef = apiGroup:1:str kind:2:str name:3:str\n\
RollingUpdateDaemonSet = maxUnavailable:1:intstr* maxSurge:2:intstr*\n\
RollingUpdateDeployment = maxUnavailable:1:intstr* maxSurge:2:intstr*\n\
RollingUpdateStatefulSetStrategy = partition:1:int* maxUnavailable:2:intstr*\n\
Rule = apiGroups:1:[str] apiVersions:2:[str] resources:3:[str] scope:4:str*\n\
RuleWithOperations = operations:1:[str] ^:2:Rule\n\
RuntimeClass = metadata:1:ObjectMeta handler:2:str overhead:3:Overhead* scheduling:4:Scheduling*\n\
SELinuxOptions = user:1:str role:2:str type:3:str level:4:str\n\
Scale = metadata:1:ObjectMeta spec:2:ScaleSpec status:3:ScaleStatus\n\
ScaleIOPersistentVolumeSource = gateway:1:str system:2:str secretRef:3:SecretReference* sslEnabled:4:bool \
    protectionDomain:5:str storagePool:6:str storageMode:7:str volumeName:8:str fsType:9:str readOnly:10:bool\n\
ScaleIOVolumeSource = gateway:1:str system:2:str secretRef:3:LocalObjectReference* sslEnabled:4:bool \
    protectionDomain:5:str storagePool:6:str storageMode:7:str volumeName:8:str fsType:9:str readOnly:10:bool\n\
ScaleSpec = replicas:1:int\n\
ScaleStatus = replicas:1:int selector:2:str\n\
Scheduling = nodeSelector:1:{str} tolerations:2:[Toleration]\n\
ScopeSelector = matchExpressions:1:[ScopedResourceSelectorRequirement]\n\
ScopedResourceSelectorRequirement = scopeName:1:str operator:2:str values:3:[str]\n\
SeccompProfile = type:1:str localhostProfile:2:str*\n\
Secret = metadata:1:ObjectMeta data:2:{bytes} type:3:str stringData:4:{str} immutable:5:bool*\n\
SecretEnvSource = ^:1:LocalObjectReference optional:2:bool*\n\
SecretKeySelector = ^:1:LocalObjectReference key:2:str optional:3:bool*\n\
SecretProjection = ^:1:LocalObjectReference items:2:[KeyToPath] optional:4:bool*\n\
SecretReference = name:1:str namespace:2:str\n\
SecretVolumeSource = secretName:1:str items:2:[KeyToPath] defaultMode:3:int* optional:4:bool*\n\
SecurityContext = capabilities:1:Capabilities* privileged:2:bool* seLinuxOptions:3:SELinuxOptions* runAsUser:4:int* \
    runAsNonRoot:5:bool* readOnlyRootFilesystem:6:bool* allowPrivilegeEscalation:7:bool* runAsGroup:8:int* \
    procMount:9:str* windowsOptions:10:WindowsSecurityContextOptions* seccompProfile:11:SeccompProfile* \
    appArmorProfile:12:AppArmorProfile*\n\
SelfSubjectAccessReview = metadata:1:ObjectMeta spec:2:SelfSubjectAccessReviewSpec \
    status:3:SubjectAccessReviewStatus\n\
SelfSubjectAccessReviewSpec = resourceAttributes:1:ResourceAttributes* \
    nonResourceAttributes:2:NonResourceAttributes*\n\
SelfSubjectReview = metadata:1:ObjectMeta status:2:SelfSubjectReviewStatus\n\
SelfSubjectReviewStatus = userInfo:1:UserInfo\n\
SelfSubjectRulesReview = metadata:1:ObjectMeta spec:2:SelfSubjectRulesReviewSpec status:3:SubjectRulesReviewStatus\n\
SelfSubjectRulesReviewSpec = namespace:1:str\n\
ServerAddressByClientCIDR = clientCIDR:1:str serverAddress:2:str\n\
Service = metadata:1:ObjectMeta spec:2:ServiceSpec status:3:ServiceStatus\n\
ServiceAccount = metadata:1:ObjectMeta secrets:2:[ObjectReference] imagePullSecrets:3:[LocalObjectReference] \
    automountServiceAccountToken:4:bool*\n\
ServiceAccountSubject = namespace:1:str name:2:str\n\
ServiceAccountTokenProjection = audience:1:str expirationSeconds:2:int* path:3:str\n\
ServiceBackendPort = name:1:str number:2:int\n\
ServiceCIDR = metadata:1:ObjectMeta spec:2:ServiceCIDRSpec status:3:ServiceCIDRStatus\n\
ServiceCIDRSpec = cidrs:1:[str]\n\
ServiceCIDRStatus = conditions:1:[Condition]\n\
ServicePort = name:1:str protocol:2:str port:3:int targetPort:4:intstr nodePort:5:int appProtocol:6:str*\n\
ServiceReference = namespace:1:str name:2:str path:3:str* port:4:int*\n\
ServiceSpec = ports:1:[ServicePort] selector:2:{str} clusterIP:3:str type:4:str externalIPs:5:[str] \
    sessionAffinity:7:str loadBalancerIP:8:str loadBalancerSourceRanges:9:[str] externalName:10:str \
    externalTrafficPolicy:11:str healthCheckNodePort:12:int publishNotReadyAddresses:13:bool \
    sessionAffinityConfig:14:SessionAffinityConfig* ipFamilyPolicy:17:str* clusterIPs:18:[str] ipFamilies:19:[str] \
    allocateLoadBalancerNodePorts:20:bool* loadBalancerClass:21:str* internalTrafficPolicy:22:str* \
    trafficDistribution:23:str*\n\
ServiceStatus = loadBalancer:1:LoadBalancerStatus conditions:2:[Condition]\n\
SessionAffinityConfig = clientIP:1:ClientIPConfig*\n\
SleepAction = seconds:1:int\n\
StatefulSet = metadata:1:ObjectMeta spec:2:StatefulSetSpec status:3:StatefulSetStatus\n\
StatefulSetCondition = type:1:str status:2:str lastTransitionTime:3:time reason:4:str message:5:str\n\
StatefulSetOrdinals = start:1:int\n\
StatefulSetPersistentVolumeClaimRetentionPolicy = whenDeleted:1:str whenScaled:2:str\n\
StatefulSetSpec = replicas:1:int* selector:2:LabelSelector* template:3:PodTemplateSpec \
    volumeClaimTemplates:4:[PersistentVolumeClaim] serviceName:5:str podManagementPolicy:6:str \
    updateStrategy:7:StatefulSetUpdateStrategy revisionHistoryLimit:8:int* minReadySeconds:9:int \
    persistentVolumeClaimRetentionPolicy:10:StatefulSetPersistentVolumeClaimRetentionPolicy* \
    ordinals:11:StatefulSetOrdinals*\n\
StatefulSetStatus = observedGeneration:1:int replicas:2:int readyReplicas:3:int currentReplicas:4:int \
    updatedReplicas:5:int currentRevision:6:str updateRevision:7:str collisionCount:9:int* \
    conditions:10:[StatefulSetCondition] availableReplicas:11:int\n\
StatefulSetUpdateStrategy = type:1:str rollingUpdate:2:RollingUpdateStatefulSetStrategy*\n\
Status = metadata:1:ListMeta status:2:str message:3:str reason:4:str details:5:StatusDetails* code:6:int\n\
StatusCause = reason:1:str message:2:str field:3:str\n\
StatusDetails = name:1:str group:2:str kind:3:str causes:4:[StatusCause] retryAfterSeconds:5:int uid:6:str\n\
StorageClass = metadata:1:ObjectMeta provisioner:2:str parameters:3:{str} reclaimPolicy:4:str* mountOptions:5:[str] \
    allowVolumeExpansion:6:bool* volumeBindingMode:7:str* allowedTopologies:8:[TopologySelectorTerm]\n\
StorageOSPersistentVolumeSource = volumeName:1:str volumeNamespace:2:str fsType:3:str readOnly:4:bool \
    secretRef:5:ObjectReference*\n\
StorageOSVolumeSource = volumeName:1:str volumeNamespace:2:str fsType:3:str readOnly:4:bool \
    secretRef:5:LocalObjectReference*\n\
Subject = kind:1:str apiGroup:2:str name:3:str namespace:4:str\n\
SubjectAccessReview = metadata:1:ObjectMeta spec:2:SubjectAccessReviewSpec status:3:SubjectAccessReviewStatus\n\
SubjectAccessReviewSpec = resourceAttributes:1:ResourceAttributes* nonResourceAttributes:2:NonResourceAttributes* \
    user:3:str groups:4:[str] extra:5:{items} uid:6:str\n\
SubjectAccessReviewStatus = allowed:1:bool reason:2:str evaluationError:3:str denied:4:bool\n\
SubjectRulesReviewStatus = resourceRules:1:[ResourceRule] nonResourceRules:2:[NonResourceRule] incomplete:3:bool \
    evaluationError:4:str\n\
SuccessPolicy = rules:1:[SuccessPolicyRule]\n\
SuccessPolicyRule = succeededIndexes:1:str* succeededCount:2:int*\n\
Sysctl = name:1:str value:2:str\n\
TCPSocketAction = port:1:intstr host:2:str\n\
Taint = key:1:str value:2:str effect:3:str timeAdded:4:time*\n\
TokenRequest = metadata:1:ObjectMeta spec:2:TokenRequestSpec status:3:TokenRequestStatus\n\
TokenRequestSpec = audiences:1:[str] boundObjectRef:3:BoundObjectReference* expirationSeconds:4:int*\n\
TokenRequestStatus = token:1:str expirationTimestamp:2:time\n\
TokenReview = metadata:1:ObjectMeta spec:2:TokenReviewSpec status:3:TokenReviewStatus\n\
TokenReviewSpec = token:1:str audiences:2:[str]\n\
TokenReviewStatus = authenticated:1:bool user:2:UserInfo error:3:str audiences:4:[str]\n\
Toleration = key:1:str operator:2:str value:3:str effect:4:str tolerationSeconds:5:int*\n\
TopologySelectorLabelRequirement = key:1:str values:2:[str]\n\
TopologySelectorTerm = matchLabelExpressions:1:[TopologySelectorLabelRequirement]\n\
TopologySpreadConstraint = maxSkew:1:int topologyKey:2:str whenUnsatisfiable:3:str labelSelector:4:LabelSelector* \
    minDomains:5:int* nodeAffinityPolicy:6:str* nodeTaintsPolicy:7:str* matchLabelKeys:8:[str]\n\
TypeChecking = expressionWarnings:1:[ExpressionWarning]\n\
TypedLocalObjectReference = apiGroup:1:str* kind:2:str name:3:str\n\
TypedObjectReference = apiGroup:1:str* kind:2:str name:3:str namespace:4:str*\n\
UncountedTerminatedPods = succeeded:1:[str] failed:2:[str]\n\
UserInfo = username:1:str uid:2:str groups:3:[str] extra:4:{items}\n\
UserSubject = name:1:str\n\
ValidatingAdmissionPolicy = metadata:1:ObjectMeta spec:2:ValidatingAdmissionPolicySpec \
    status:3:ValidatingAdmissionPolicyStatus\n\
ValidatingAdmissionPolicyBinding = metadata:1:ObjectMeta spec:2:ValidatingAdmissionPolicyBindingSpec\n\
ValidatingAdmissionPolicyBindingSpec = policyName:1:str paramRef:2:ParamRef* matchResources:3:MatchResources* \
    validationActions:4:[str]\n\
ValidatingAdmissionPolicySpec = paramKind:1:ParamKind* matchConstraints:2:MatchResources* validations:3:[Validation] \
    failurePolicy:4:str* auditAnnotations:5:[AuditAnnotation] matchConditions:6:[MatchCondition] \
    variables:7:[Variable]\n\
ValidatingAdmissionPolicyStatus = observedGeneration:1:int typeChecking:2:TypeChecking* conditions:3:[Condition]\n\
ValidatingWebhook = name:1:str clientConfig:2:WebhookClientConfig rules:3:[RuleWithOperations] failurePolicy:4:str* \
    namespaceSelector:5:LabelSelector* sideEffects:6:str* timeoutSeconds:7:int* admissionReviewVersions:8:[str] \
    matchPolicy:9:str* objectSelector:10:LabelSelector* matchConditions:11:[MatchCondition]\n\
ValidatingWebhookConfiguration = metadata:1:ObjectMeta webhooks:2:[ValidatingWebhook]\n\
Validation = expression:1:str message:2:str reason:3:str* messageExpression:4:str\n\
Variable = name:1:str expression:2:str\n\
Volume = name:1:str ^:2:VolumeSource\n\
VolumeAttachment = metadata:1:ObjectMeta spec:2:VolumeAttachmentSpec status:3:VolumeAttachmentStatus\n\
VolumeAttachmentSource = persistentVolumeName:1:str* inlineVolumeSpec:2:PersistentVolumeSpec*\n\
VolumeAttachmentSpec = attacher:1:str source:2:VolumeAttachmentSource nodeName:3:str\n\
VolumeAttachmentStatus = attached:1:bool attachmentMetadata:2:{str} attachError:3:VolumeError* \
    detachError:4:VolumeError*\n\
VolumeAttributesClass = metadata:1:ObjectMeta driverName:2:str parameters:3:{str}\n\
VolumeDevice = name:1:str devicePath:2:str\n\
VolumeError = time:1:time message:2:str errorCode:3:int*\n\
VolumeMount = name:1:str readOnly:2:bool mountPath:3:str subPath:4:str mountPropagation:5:str* subPathExpr:6:str \
    recursiveReadOnly:7:str*\n\
VolumeMountStatus = name:1:str mountPath:2:str readOnly:3:bool recursiveReadOnly:4:str*\n\
VolumeNodeAffinity = required:1:NodeSelector*\n\
VolumeNodeResources = count:1:int*\n\
VolumeProjection = secret:1:SecretProjection* downwardAPI:2:DownwardAPIProjection* configMap:3:ConfigMapProjection* \
    serviceAccountToken:4:ServiceAccountTokenProjection* clusterTrustBundle:5:ClusterTrustBundleProjection* \
    podCertificate:6:PodCertificateProjection*\n\
VolumeResourceRequirements = limits:1:{quantity} requests:2:{quantity}\n\
VolumeSource = hostPath:1:HostPathVolumeSource* emptyDir:2:EmptyDirVolumeSource* \
    gcePersistentDisk:3:GCEPersistentDiskVolumeSource* awsElasticBlockStore:4:AWSElasticBlockStoreVolumeSource* \
    gitRepo:5:GitRepoVolumeSource* secret:6:SecretVolumeSource* nfs:7:NFSVolumeSource* iscsi:8:ISCSIVolumeSource* \
    glusterfs:9:GlusterfsVolumeSource* persistentVolumeClaim:10:PersistentVolumeClaimVolumeSource* \
    rbd:11:RBDVolumeSource* flexVolume:12:FlexVolumeSource* cinder:13:CinderVolumeSource* \
    cephfs:14:CephFSVolumeSource* flocker:15:FlockerVolumeSource* downwardAPI:16:DownwardAPIVolumeSource* \
    fc:17:FCVolumeSource* azureFile:18:AzureFileVolumeSource* configMap:19:ConfigMapVolumeSource* \
    vsphereVolume:20:VsphereVirtualDiskVolumeSource* quobyte:21:QuobyteVolumeSource* \
    azureDisk:22:AzureDiskVolumeSource* photonPersistentDisk:23:PhotonPersistentDiskVolumeSource* \
    portworxVolume:24:PortworxVolumeSource* scaleIO:25:ScaleIOVolumeSource* projected:26:ProjectedVolumeSource* \
    storageos:27:StorageOSVolumeSource* csi:28:CSIVolumeSource* ephemeral:29:EphemeralVolumeSource* \
    image:30:ImageVolumeSource*\n\
VsphereVirtualDiskVolumeSource = volumePath:1:str fsType:2:str storagePolicyName:3:str storagePolicyID:4:str\n\
WebhookClientConfig = service:1:ServiceReference* caBundle:2:bytes url:3:str*\n\
WeightedPodAffinityTerm = weight:1:int podAffinityTerm:2:PodAffinityTerm\n\
WindowsSecurityContextOptions = gmsaCredentialSpecName:1:str* gmsaCredentialSpec:2:str* runAsUserName:3:str* \
    hostProcess:4:bool*\n\
resource.k8s.io_ResourceClaim = metadata:1:ObjectMeta spec:2:ResourceClaimSpec status:3:ResourceClaimStatus\n\
storage.TokenRequest = audience:1:str expirationSeconds:2:int*\n\
";
