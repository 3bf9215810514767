//! The numbers of the fields of protobuf messages, types A to M: see `protobuf/mod.rs` for the notation.
//!
//! Source: the tags `protobuf` of k8s.io/api */v1/types.go and k8s.io/apimachinery pkg/apis/meta/v1/types.go (v1.34).

/// A line each.
pub(super) const A_TO_M: &str = "\
APIGroup = name:1:str versions:2:[GroupVersionForDiscovery] preferredVersion:3:GroupVersionForDiscovery \
    serverAddressByClientCIDRs:4:[ServerAddressByClientCIDR]\n\
APIGroupList = groups:1:[APIGroup]\n\
APIResource = name:1:str namespaced:2:bool kind:3:str verbs:4:items shortNames:5:[str] singularName:6:str \
    categories:7:[str] group:8:str version:9:str storageVersionHash:10:str\n\
APIResourceList = groupVersion:1:str resources:2:[APIResource]\n\
APIVersions = versions:1:[str] serverAddressByClientCIDRs:2:[ServerAddressByClientCIDR]\n\
AWSElasticBlockStoreVolumeSource = volumeID:1:str fsType:2:str partition:3:int readOnly:4:bool\n\
Affinity = nodeAffinity:1:NodeAffinity* podAffinity:2:PodAffinity* podAntiAffinity:3:PodAntiAffinity*\n\
AggregationRule = clusterRoleSelectors:1:[LabelSelector]\n\
AllocatedDeviceStatus = driver:1:str pool:2:str device:3:str conditions:4:[Condition] data:5:raw* \
    networkData:6:NetworkDeviceData* shareID:7:str*\n\
AllocationResult = devices:1:DeviceAllocationResult nodeSelector:3:NodeSelector* allocationTimestamp:5:time*\n\
AppArmorProfile = type:1:str localhostProfile:2:str*\n\
ApplyConfiguration = expression:1:str\n\
AttachedVolume = name:1:str devicePath:2:str\n\
AuditAnnotation = key:1:str valueExpression:2:str\n\
AzureDiskVolumeSource = diskName:1:str diskURI:2:str cachingMode:3:str* fsType:4:str* readOnly:5:bool* kind:6:str*\n\
AzureFilePersistentVolumeSource = secretName:1:str shareName:2:str readOnly:3:bool secretNamespace:4:str*\n\
AzureFileVolumeSource = secretName:1:str shareName:2:str readOnly:3:bool\n\
Binding = metadata:1:ObjectMeta target:2:ObjectReference\n\
BoundObjectReference = kind:1:str apiVersion:2:str name:3:str uid:4:str\n\
CELDeviceSelector = expression:1:str\n\
CSIDriver = metadata:1:ObjectMeta spec:2:CSIDriverSpec\n\
CSIDriverSpec = attachRequired:1:bool* podInfoOnMount:2:bool* volumeLifecycleModes:3:[str] storageCapacity:4:bool* \
    fsGroupPolicy:5:str* tokenRequests:6:[storage.TokenRequest] requiresRepublish:7:bool* seLinuxMount:8:bool* \
    nodeAllocatableUpdatePeriodSeconds:9:int*\n\
CSINode = metadata:1:ObjectMeta spec:2:CSINodeSpec\n\
CSINodeDriver = name:1:str nodeID:2:str topologyKeys:3:[str] allocatable:4:VolumeNodeResources*\n\
CSINodeSpec = drivers:1:[CSINodeDriver]\n\
CSIPersistentVolumeSource = driver:1:str volumeHandle:2:str readOnly:3:bool fsType:4:str volumeAttributes:5:{str} \
    controllerPublishSecretRef:6:SecretReference* nodeStageSecretRef:7:SecretReference* \
    nodePublishSecretRef:8:SecretReference* controllerExpandSecretRef:9:SecretReference* \
    nodeExpandSecretRef:10:SecretReference*\n\
CSIStorageCapacity = metadata:1:ObjectMeta nodeTopology:2:LabelSelector* storageClassName:3:str capacity:4:quantity* \
    maximumVolumeSize:5:quantity*\n\
CSIVolumeSource = driver:1:str readOnly:2:bool* fsType:3:str* volumeAttributes:4:{str} \
    nodePublishSecretRef:5:LocalObjectReference*\n\
Capabilities = add:1:[str] drop:2:[str]\n\
CapacityRequestPolicy = default:1:quantity* validValues:3:[quantity] validRange:4:CapacityRequestPolicyRange*\n\
CapacityRequestPolicyRange = min:1:quantity* max:2:quantity* step:3:quantity*\n\
CapacityRequirements = requests:1:{quantity}\n\
CephFSPersistentVolumeSource = monitors:1:[str] path:2:str user:3:str secretFile:4:str secretRef:5:SecretReference* \
    readOnly:6:bool\n\
CephFSVolumeSource = monitors:1:[str] path:2:str user:3:str secretFile:4:str secretRef:5:LocalObjectReference* \
    readOnly:6:bool\n\
CertificateSigningRequest = metadata:1:ObjectMeta spec:2:CertificateSigningRequestSpec \
    status:3:CertificateSigningRequestStatus\n\
CertificateSigningRequestCondition = type:1:str reason:2:str message:3:str lastUpdateTime:4:time \
    lastTransitionTime:5:time status:6:str\n\
CertificateSigningRequestSpec = request:1:bytes username:2:str uid:3:str groups:4:[str] usages:5:[str] \
    extra:6:{items} signerName:7:str expirationSeconds:8:int*\n\
CertificateSigningRequestStatus = conditions:1:[CertificateSigningRequestCondition] certificate:2:bytes\n\
CinderPersistentVolumeSource = volumeID:1:str fsType:2:str readOnly:3:bool secretRef:4:SecretReference*\n\
CinderVolumeSource = volumeID:1:str fsType:2:str readOnly:3:bool secretRef:4:LocalObjectReference*\n\
ClientIPConfig = timeoutSeconds:1:int*\n\
ClusterRole = metadata:1:ObjectMeta rules:2:[PolicyRule] aggregationRule:3:AggregationRule*\n\
ClusterRoleBinding = metadata:1:ObjectMeta subjects:2:[Subject] roleRef:3:RoleRef\n\
ClusterTrustBundleProjection = name:1:str* signerName:2:str* labelSelector:3:LabelSelector* path:4:str \
    optional:5:bool*\n\
Condition = type:1:str status:2:str observedGeneration:3:int lastTransitionTime:4:time reason:5:str message:6:str\n\
ConfigMap = metadata:1:ObjectMeta data:2:{str} binaryData:3:{bytes} immutable:4:bool*\n\
ConfigMapEnvSource = ^:1:LocalObjectReference optional:2:bool*\n\
ConfigMapKeySelector = ^:1:LocalObjectReference key:2:str optional:3:bool*\n\
ConfigMapNodeConfigSource = namespace:1:str name:2:str uid:3:str resourceVersion:4:str kubeletConfigKey:5:str\n\
ConfigMapProjection = ^:1:LocalObjectReference items:2:[KeyToPath] optional:4:bool*\n\
ConfigMapVolumeSource = ^:1:LocalObjectReference items:2:[KeyToPath] defaultMode:3:int* optional:4:bool*\n\
Container = name:1:str image:2:str command:3:[str] args:4:[str] workingDir:5:str ports:6:[ContainerPort] \
    env:7:[EnvVar] resources:8:ResourceRequirements volumeMounts:9:[VolumeMount] livenessProbe:10:Probe* \
    readinessProbe:11:Probe* lifecycle:12:Lifecycle* terminationMessagePath:13:str imagePullPolicy:14:str \
    securityContext:15:SecurityContext* stdin:16:bool stdinOnce:17:bool tty:18:bool envFrom:19:[EnvFromSource] \
    terminationMessagePolicy:20:str volumeDevices:21:[VolumeDevice] startupProbe:22:Probe* \
    resizePolicy:23:[ContainerResizePolicy] restartPolicy:24:str* restartPolicyRules:25:[ContainerRestartRule]\n\
ContainerExtendedResourceRequest = containerName:1:str resourceName:2:str requestName:3:str\n\
ContainerImage = names:1:[str] sizeBytes:2:int\n\
ContainerPort = name:1:str hostPort:2:int containerPort:3:int protocol:4:str hostIP:5:str\n\
ContainerResizePolicy = resourceName:1:str restartPolicy:2:str\n\
ContainerResourceMetricSource = name:1:str target:2:MetricTarget container:3:str\n\
ContainerResourceMetricStatus = name:1:str current:2:MetricValueStatus container:3:str\n\
ContainerRestartRule = action:1:str exitCodes:2:ContainerRestartRuleOnExitCodes*\n\
ContainerRestartRuleOnExitCodes = operator:1:str values:2:[int]\n\
ContainerState = waiting:1:ContainerStateWaiting* running:2:ContainerStateRunning* \
    terminated:3:ContainerStateTerminated*\n\
ContainerStateRunning = startedAt:1:time\n\
ContainerStateTerminated = exitCode:1:int signal:2:int reason:3:str message:4:str startedAt:5:time finishedAt:6:time \
    containerID:7:str\n\
ContainerStateWaiting = reason:1:str message:2:str\n\
ContainerStatus = name:1:str state:2:ContainerState lastState:3:ContainerState ready:4:bool restartCount:5:int \
    image:6:str imageID:7:str containerID:8:str started:9:bool* allocatedResources:10:{quantity} \
    resources:11:ResourceRequirements* volumeMounts:12:[VolumeMountStatus] user:13:ContainerUser* \
    allocatedResourcesStatus:14:[ResourceStatus] stopSignal:15:str*\n\
ContainerUser = linux:1:LinuxContainerUser*\n\
ControllerRevision = metadata:1:ObjectMeta data:2:raw revision:3:int\n\
Counter = value:1:quantity\n\
CounterSet = name:1:str counters:2:{Counter}\n\
CronJob = metadata:1:ObjectMeta spec:2:CronJobSpec status:3:CronJobStatus\n\
CronJobSpec = schedule:1:str startingDeadlineSeconds:2:int* concurrencyPolicy:3:str suspend:4:bool* \
    jobTemplate:5:JobTemplateSpec successfulJobsHistoryLimit:6:int* failedJobsHistoryLimit:7:int* timeZone:8:str*\n\
CronJobStatus = active:1:[ObjectReference] lastScheduleTime:4:time* lastSuccessfulTime:5:time*\n\
CrossVersionObjectReference = kind:1:str name:2:str apiVersion:3:str\n\
DaemonEndpoint = Port:1:int\n\
DaemonSet = metadata:1:ObjectMeta spec:2:DaemonSetSpec status:3:DaemonSetStatus\n\
DaemonSetCondition = type:1:str status:2:str lastTransitionTime:3:time reason:4:str message:5:str\n\
DaemonSetSpec = selector:1:LabelSelector* template:2:PodTemplateSpec updateStrategy:3:DaemonSetUpdateStrategy \
    minReadySeconds:4:int revisionHistoryLimit:6:int*\n\
DaemonSetStatus = currentNumberScheduled:1:int numberMisscheduled:2:int desiredNumberScheduled:3:int \
    numberReady:4:int observedGeneration:5:int updatedNumberScheduled:6:int numberAvailable:7:int \
    numberUnavailable:8:int collisionCount:9:int* conditions:10:[DaemonSetCondition]\n\
DaemonSetUpdateStrategy = type:1:str rollingUpdate:2:RollingUpdateDaemonSet*\n\
DeleteOptions = gracePeriodSeconds:1:int* preconditions:2:Preconditions* orphanDependents:3:bool* \
    propagationPolicy:4:str* dryRun:5:[str] ignoreStoreReadErrorWithClusterBreakingPotential:6:bool*\n\
Deployment = metadata:1:ObjectMeta spec:2:DeploymentSpec status:3:DeploymentStatus\n\
DeploymentCondition = type:1:str status:2:str reason:4:str message:5:str lastUpdateTime:6:time \
    lastTransitionTime:7:time\n\
DeploymentSpec = replicas:1:int* selector:2:LabelSelector* template:3:PodTemplateSpec strategy:4:DeploymentStrategy \
    minReadySeconds:5:int revisionHistoryLimit:6:int* paused:7:bool progressDeadlineSeconds:9:int*\n\
DeploymentStatus = observedGeneration:1:int replicas:2:int updatedReplicas:3:int availableReplicas:4:int \
    unavailableReplicas:5:int conditions:6:[DeploymentCondition] readyReplicas:7:int collisionCount:8:int* \
    terminatingReplicas:9:int*\n\
DeploymentStrategy = type:1:str rollingUpdate:2:RollingUpdateDeployment*\n\
Device = name:1:str attributes:2:{DeviceAttribute} capacity:3:{DeviceCapacity} \
    consumesCounters:4:[DeviceCounterConsumption] nodeName:5:str* nodeSelector:6:NodeSelector* allNodes:7:bool* \
    taints:8:[DeviceTaint] bindsToNode:9:bool* bindingConditions:10:[str] bindingFailureConditions:11:[str] \
    allowMultipleAllocations:12:bool*\n\
DeviceAllocationConfiguration = source:1:str requests:2:[str] ^:3:DeviceConfiguration\n\
DeviceAllocationResult = results:1:[DeviceRequestAllocationResult] config:2:[DeviceAllocationConfiguration]\n\
DeviceAttribute = int:2:int* bool:3:bool* string:4:str* version:5:str*\n\
DeviceCapacity = value:1:quantity requestPolicy:2:CapacityRequestPolicy*\n\
DeviceClaim = requests:1:[DeviceRequest] constraints:2:[DeviceConstraint] config:3:[DeviceClaimConfiguration]\n\
DeviceClaimConfiguration = requests:1:[str] ^:2:DeviceConfiguration\n\
DeviceClass = metadata:1:ObjectMeta spec:2:DeviceClassSpec\n\
DeviceClassConfiguration = ^:1:DeviceConfiguration\n\
DeviceClassSpec = selectors:1:[DeviceSelector] config:2:[DeviceClassConfiguration] extendedResourceName:4:str*\n\
DeviceConfiguration = opaque:1:OpaqueDeviceConfiguration*\n\
DeviceConstraint = requests:1:[str] matchAttribute:2:str* distinctAttribute:3:str*\n\
DeviceCounterConsumption = counterSet:1:str counters:2:{Counter}\n\
DeviceRequest = name:1:str exactly:2:ExactDeviceRequest* firstAvailable:3:[DeviceSubRequest]\n\
DeviceRequestAllocationResult = request:1:str driver:2:str pool:3:str device:4:str adminAccess:5:bool* \
    tolerations:6:[DeviceToleration] bindingConditions:7:[str] bindingFailureConditions:8:[str] shareID:9:str* \
    consumedCapacity:10:{quantity}\n\
DeviceSelector = cel:1:CELDeviceSelector*\n\
DeviceSubRequest = name:1:str deviceClassName:2:str selectors:3:[DeviceSelector] allocationMode:4:str count:5:int \
    tolerations:6:[DeviceToleration] capacity:7:CapacityRequirements*\n\
DeviceTaint = key:1:str value:2:str effect:3:str timeAdded:4:time*\n\
DeviceToleration = key:1:str operator:2:str value:3:str effect:4:str tolerationSeconds:5:int*\n\
DownwardAPIProjection = items:1:[DownwardAPIVolumeFile]\n\
DownwardAPIVolumeFile = path:1:str fieldRef:2:ObjectFieldSelector* resourceFieldRef:3:ResourceFieldSelector* \
    mode:4:int*\n\
DownwardAPIVolumeSource = items:1:[DownwardAPIVolumeFile] defaultMode:2:int*\n\
EmptyDirVolumeSource = medium:1:str sizeLimit:2:quantity*\n\
Endpoint = addresses:1:[str] conditions:2:EndpointConditions hostname:3:str* targetRef:4:ObjectReference* \
    deprecatedTopology:5:{str} nodeName:6:str* zone:7:str* hints:8:EndpointHints*\n\
EndpointAddress = ip:1:str targetRef:2:ObjectReference* hostname:3:str nodeName:4:str*\n\
EndpointConditions = ready:1:bool* serving:2:bool* terminating:3:bool*\n\
EndpointHints = forZones:1:[ForZone] forNodes:2:[ForNode]\n\
EndpointPort = name:1:str port:2:int protocol:3:str appProtocol:4:str*\n\
EndpointSlice = metadata:1:ObjectMeta endpoints:2:[Endpoint] ports:3:[discovery.EndpointPort] addressType:4:str\n\
EndpointSubset = addresses:1:[EndpointAddress] notReadyAddresses:2:[EndpointAddress] ports:3:[EndpointPort]\n\
Endpoints = metadata:1:ObjectMeta subsets:2:[EndpointSubset]\n\
EnvFromSource = prefix:1:str configMapRef:2:ConfigMapEnvSource* secretRef:3:SecretEnvSource*\n\
EnvVar = name:1:str value:2:str valueFrom:3:EnvVarSource*\n\
EnvVarSource = fieldRef:1:ObjectFieldSelector* resourceFieldRef:2:ResourceFieldSelector* \
    configMapKeyRef:3:ConfigMapKeySelector* secretKeyRef:4:SecretKeySelector* fileKeyRef:5:FileKeySelector*\n\
EphemeralContainer = ^:1:EphemeralContainerCommon targetContainerName:2:str\n\
EphemeralContainerCommon = name:1:str image:2:str command:3:[str] args:4:[str] workingDir:5:str \
    ports:6:[ContainerPort] env:7:[EnvVar] resources:8:ResourceRequirements volumeMounts:9:[VolumeMount] \
    livenessProbe:10:Probe* readinessProbe:11:Probe* lifecycle:12:Lifecycle* terminationMessagePath:13:str \
    imagePullPolicy:14:str securityContext:15:SecurityContext* stdin:16:bool stdinOnce:17:bool tty:18:bool \
    envFrom:19:[EnvFromSource] terminationMessagePolicy:20:str volumeDevices:21:[VolumeDevice] \
    startupProbe:22:Probe* resizePolicy:23:[ContainerResizePolicy] restartPolicy:24:str* \
    restartPolicyRules:25:[ContainerRestartRule]\n\
EphemeralVolumeSource = volumeClaimTemplate:1:PersistentVolumeClaimTemplate*\n\
Event = metadata:1:ObjectMeta involvedObject:2:ObjectReference reason:3:str message:4:str source:5:EventSource \
    firstTimestamp:6:time lastTimestamp:7:time count:8:int type:9:str eventTime:10:microtime series:11:EventSeries* \
    action:12:str related:13:ObjectReference* reportingComponent:14:str reportingInstance:15:str\n\
EventSeries = count:1:int lastObservedTime:2:microtime\n\
EventSource = component:1:str host:2:str\n\
Eviction = metadata:1:ObjectMeta deleteOptions:2:DeleteOptions*\n\
ExactDeviceRequest = deviceClassName:1:str selectors:2:[DeviceSelector] allocationMode:3:str count:4:int \
    adminAccess:5:bool* tolerations:6:[DeviceToleration] capacity:7:CapacityRequirements*\n\
ExecAction = command:1:[str]\n\
ExemptPriorityLevelConfiguration = nominalConcurrencyShares:1:int* lendablePercent:2:int*\n\
ExpressionWarning = fieldRef:2:str warning:3:str\n\
ExternalMetricSource = metric:1:MetricIdentifier target:2:MetricTarget\n\
ExternalMetricStatus = metric:1:MetricIdentifier current:2:MetricValueStatus\n\
FCVolumeSource = targetWWNs:1:[str] lun:2:int* fsType:3:str readOnly:4:bool wwids:5:[str]\n\
FieldSelectorAttributes = rawSelector:1:str requirements:2:[FieldSelectorRequirement]\n\
FieldSelectorRequirement = key:1:str operator:2:str values:3:[str]\n\
FieldsV1 = -:1:bytes\n\
FileKeySelector = volumeName:1:str path:2:str key:3:str optional:4:bool*\n\
FlexPersistentVolumeSource = driver:1:str fsType:2:str secretRef:3:SecretReference* readOnly:4:bool options:5:{str}\n\
FlexVolumeSource = driver:1:str fsType:2:str secretRef:3:LocalObjectReference* readOnly:4:bool options:5:{str}\n\
FlockerVolumeSource = datasetName:1:str datasetUUID:2:str\n\
FlowDistinguisherMethod = type:1:str\n\
FlowSchema = metadata:1:ObjectMeta spec:2:FlowSchemaSpec status:3:FlowSchemaStatus\n\
FlowSchemaCondition = type:1:str status:2:str lastTransitionTime:3:time reason:4:str message:5:str\n\
FlowSchemaSpec = priorityLevelConfiguration:1:PriorityLevelConfigurationReference matchingPrecedence:2:int \
    distinguisherMethod:3:FlowDistinguisherMethod* rules:4:[PolicyRulesWithSubjects]\n\
FlowSchemaStatus = conditions:1:[FlowSchemaCondition]\n\
ForNode = name:1:str\n\
ForZone = name:1:str\n\
GCEPersistentDiskVolumeSource = pdName:1:str fsType:2:str partition:3:int readOnly:4:bool\n\
GRPCAction = port:1:int service:2:str*\n\
GitRepoVolumeSource = repository:1:str revision:2:str directory:3:str\n\
GlusterfsPersistentVolumeSource = endpoints:1:str path:2:str readOnly:3:bool endpointsNamespace:4:str*\n\
GlusterfsVolumeSource = endpoints:1:str path:2:str readOnly:3:bool\n\
GroupSubject = name:1:str\n\
GroupVersionForDiscovery = groupVersion:1:str version:2:str\n\
HPAScalingPolicy = type:1:str value:2:int periodSeconds:3:int\n\
HPAScalingRules = selectPolicy:1:str* policies:2:[HPAScalingPolicy] stabilizationWindowSeconds:3:int* \
    tolerance:4:quantity*\n\
HTTPGetAction = path:1:str port:2:intstr host:3:str scheme:4:str httpHeaders:5:[HTTPHeader]\n\
HTTPHeader = name:1:str value:2:str\n\
HTTPIngressPath = path:1:str backend:2:IngressBackend pathType:3:str*\n\
HTTPIngressRuleValue = paths:1:[HTTPIngressPath]\n\
HorizontalPodAutoscaler = metadata:1:ObjectMeta spec:2:HorizontalPodAutoscalerSpec \
    status:3:HorizontalPodAutoscalerStatus\n\
HorizontalPodAutoscalerBehavior = scaleUp:1:HPAScalingRules* scaleDown:2:HPAScalingRules*\n\
HorizontalPodAutoscalerCondition = type:1:str status:2:str lastTransitionTime:3:time reason:4:str message:5:str\n\
HorizontalPodAutoscalerSpec = scaleTargetRef:1:CrossVersionObjectReference minReplicas:2:int* maxReplicas:3:int \
    metrics:4:[MetricSpec] behavior:5:HorizontalPodAutoscalerBehavior*\n\
HorizontalPodAutoscalerStatus = observedGeneration:1:int* lastScaleTime:2:time* currentReplicas:3:int \
    desiredReplicas:4:int currentMetrics:5:[MetricStatus] conditions:6:[HorizontalPodAutoscalerCondition]\n\
HostAlias = ip:1:str hostnames:2:[str]\n\
HostIP = ip:1:str\n\
HostPathVolumeSource = path:1:str type:2:str*\n\
IPAddress = metadata:1:ObjectMeta spec:2:IPAddressSpec\n\
IPAddressSpec = parentRef:1:ParentReference*\n\
IPBlock = cidr:1:str except:2:[str]\n\
ISCSIPersistentVolumeSource = targetPortal:1:str iqn:2:str lun:3:int iscsiInterface:4:str fsType:5:str \
    readOnly:6:bool portals:7:[str] chapAuthDiscovery:8:bool secretRef:10:SecretReference* chapAuthSession:11:bool \
    initiatorName:12:str*\n\
ISCSIVolumeSource = targetPortal:1:str iqn:2:str lun:3:int iscsiInterface:4:str fsType:5:str readOnly:6:bool \
    portals:7:[str] chapAuthDiscovery:8:bool secretRef:10:LocalObjectReference* chapAuthSession:11:bool \
    initiatorName:12:str*\n\
ImageVolumeSource = reference:1:str pullPolicy:2:str\n\
Ingress = metadata:1:ObjectMeta spec:2:IngressSpec status:3:IngressStatus\n\
IngressBackend = resource:3:TypedLocalObjectReference* service:4:IngressServiceBackend*\n\
IngressClass = metadata:1:ObjectMeta spec:2:IngressClassSpec\n\
IngressClassParametersReference = apiGroup:1:str* kind:2:str name:3:str scope:4:str* namespace:5:str*\n\
IngressClassSpec = controller:1:str parameters:2:IngressClassParametersReference*\n\
IngressLoadBalancerIngress = ip:1:str hostname:2:str ports:4:[IngressPortStatus]\n\
IngressLoadBalancerStatus = ingress:1:[IngressLoadBalancerIngress]\n\
IngressPortStatus = port:1:int protocol:2:str error:3:str*\n\
IngressRule = host:1:str ^:2:IngressRuleValue\n\
IngressRuleValue = http:1:HTTPIngressRuleValue*\n\
IngressServiceBackend = name:1:str port:2:ServiceBackendPort\n\
IngressSpec = defaultBackend:1:IngressBackend* tls:2:[IngressTLS] rules:3:[IngressRule] ingressClassName:4:str*\n\
IngressStatus = loadBalancer:1:IngressLoadBalancerStatus\n\
IngressTLS = hosts:1:[str] secretName:2:str\n\
JSONPatch = expression:1:str\n\
Job = metadata:1:ObjectMeta spec:2:JobSpec status:3:JobStatus\n\
JobCondition = type:1:str status:2:str lastProbeTime:3:time lastTransitionTime:4:time reason:5:str message:6:str\n\
JobSpec = parallelism:1:int* completions:2:int* activeDeadlineSeconds:3:int* selector:4:LabelSelector* \
    manualSelector:5:bool* template:6:PodTemplateSpec backoffLimit:7:int* ttlSecondsAfterFinished:8:int* \
    completionMode:9:str* suspend:10:bool* podFailurePolicy:11:PodFailurePolicy* backoffLimitPerIndex:12:int* \
    maxFailedIndexes:13:int* podReplacementPolicy:14:str* managedBy:15:str* successPolicy:16:SuccessPolicy*\n\
JobStatus = conditions:1:[JobCondition] startTime:2:time* completionTime:3:time* active:4:int succeeded:5:int \
    failed:6:int completedIndexes:7:str uncountedTerminatedPods:8:UncountedTerminatedPods* ready:9:int* \
    failedIndexes:10:str* terminating:11:int*\n\
JobTemplateSpec = metadata:1:ObjectMeta spec:2:JobSpec\n\
KeyToPath = key:1:str path:2:str mode:3:int*\n\
LabelSelector = matchLabels:1:{str} matchExpressions:2:[LabelSelectorRequirement]\n\
LabelSelectorAttributes = rawSelector:1:str requirements:2:[LabelSelectorRequirement]\n\
LabelSelectorRequirement = key:1:str operator:2:str values:3:[str]\n\
Lease = metadata:1:ObjectMeta spec:2:LeaseSpec\n\
LeaseSpec = holderIdentity:1:str* leaseDurationSeconds:2:int* acquireTime:3:microtime* renewTime:4:microtime* \
    leaseTransitions:5:int* strategy:6:str* preferredHolder:7:str*\n\
Lifecycle = postStart:1:LifecycleHandler* preStop:2:LifecycleHandler* stopSignal:3:str*\n\
LifecycleHandler = exec:1:ExecAction* httpGet:2:HTTPGetAction* tcpSocket:3:TCPSocketAction* sleep:4:SleepAction*\n\
LimitRange = metadata:1:ObjectMeta spec:2:LimitRangeSpec\n\
LimitRangeItem = type:1:str max:2:{quantity} min:3:{quantity} default:4:{quantity} defaultRequest:5:{quantity} \
    maxLimitRequestRatio:6:{quantity}\n\
LimitRangeSpec = limits:1:[LimitRangeItem]\n\
LimitResponse = type:1:str queuing:2:QueuingConfiguration*\n\
LimitedPriorityLevelConfiguration = nominalConcurrencyShares:1:int* limitResponse:2:LimitResponse \
    lendablePercent:3:int* borrowingLimitPercent:4:int*\n\
LinuxContainerUser = uid:1:int gid:2:int supplementalGroups:3:[int]\n\
ListMeta = selfLink:1:str resourceVersion:2:str continue:3:str remainingItemCount:4:int*\n\
LoadBalancerIngress = ip:1:str hostname:2:str ipMode:3:str* ports:4:[PortStatus]\n\
LoadBalancerStatus = ingress:1:[LoadBalancerIngress]\n\
LocalObjectReference = name:1:str\n\
LocalSubjectAccessReview = metadata:1:ObjectMeta spec:2:SubjectAccessReviewSpec status:3:SubjectAccessReviewStatus\n\
LocalVolumeSource = path:1:str fsType:2:str*\n\
ManagedFieldsEntry = manager:1:str operation:2:str apiVersion:3:str time:4:time* fieldsType:6:str fieldsV1:7:raw* \
    subresource:8:str\n\
MatchCondition = name:1:str expression:2:str\n\
MatchResources = namespaceSelector:1:LabelSelector* objectSelector:2:LabelSelector* \
    resourceRules:3:[NamedRuleWithOperations] excludeResourceRules:4:[NamedRuleWithOperations] matchPolicy:7:str*\n\
MetricIdentifier = name:1:str selector:2:LabelSelector*\n\
MetricSpec = type:1:str object:2:ObjectMetricSource* pods:3:PodsMetricSource* resource:4:ResourceMetricSource* \
    external:5:ExternalMetricSource* containerResource:7:ContainerResourceMetricSource*\n\
MetricStatus = type:1:str object:2:ObjectMetricStatus* pods:3:PodsMetricStatus* resource:4:ResourceMetricStatus* \
    external:5:ExternalMetricStatus* containerResource:7:ContainerResourceMetricStatus*\n\
MetricTarget = type:1:str value:2:quantity* averageValue:3:quantity* averageUtilization:4:int*\n\
MetricValueStatus = value:1:quantity* averageValue:2:quantity* averageUtilization:3:int*\n\
ModifyVolumeStatus = targetVolumeAttributesClassName:1:str status:2:str\n\
MutatingAdmissionPolicy = metadata:1:ObjectMeta spec:2:MutatingAdmissionPolicySpec\n\
MutatingAdmissionPolicyBinding = metadata:1:ObjectMeta spec:2:MutatingAdmissionPolicyBindingSpec\n\
MutatingAdmissionPolicyBindingSpec = policyName:1:str paramRef:2:ParamRef* matchResources:3:MatchResources*\n\
MutatingAdmissionPolicySpec = paramKind:1:ParamKind* matchConstraints:2:MatchResources* variables:3:[Variable] \
    mutations:4:[Mutation] failurePolicy:5:str* matchConditions:6:[MatchCondition] reinvocationPolicy:7:str\n\
MutatingWebhook = name:1:str clientConfig:2:WebhookClientConfig rules:3:[RuleWithOperations] failurePolicy:4:str* \
    namespaceSelector:5:LabelSelector* sideEffects:6:str* timeoutSeconds:7:int* admissionReviewVersions:8:[str] \
    matchPolicy:9:str* reinvocationPolicy:10:str* objectSelector:11:LabelSelector* \
    matchConditions:12:[MatchCondition]\n\
MutatingWebhookConfiguration = metadata:1:ObjectMeta webhooks:2:[MutatingWebhook]\n\
Mutation = patchType:2:str applyConfiguration:3:ApplyConfiguration* jsonPatch:4:JSONPatch*\n\
discovery.EndpointPort = name:1:str* protocol:2:str* port:3:int* appProtocol:4:str*\n\
events.EventSeries = count:1:int lastObservedTime:2:microtime\n\
events.k8s.io_Event = metadata:1:ObjectMeta eventTime:2:microtime series:3:events.EventSeries* \
    reportingController:4:str reportingInstance:5:str action:6:str reason:7:str regarding:8:ObjectReference \
    related:9:ObjectReference* note:10:str type:11:str deprecatedSource:12:EventSource \
    deprecatedFirstTimestamp:13:time deprecatedLastTimestamp:14:time deprecatedCount:15:int\n\
flowcontrol.Subject = kind:1:str user:2:UserSubject* group:3:GroupSubject* serviceAccount:4:ServiceAccountSubject*\n\
";
