//! The fields of the API's types in the oldest release that is offered: the table that [`super::Schema`] reads.
//!
//! Source: k8s.io/api {core,coordination,storage,policy,apps,batch,scheduling,discovery,rbac,node}/v1 types.go and
//! k8s.io/apimachinery meta/v1 types.go (v1.31): names, `omitempty`, pointers, `patchStrategy` and `patchMergeKey`.
//! One type per line: `Name = field:type …`. Types are `str int int32 bool float quantity intstr time microtime bytes
//! any` or another line's name; `[T]` is a list, `[T]@key` one that patches merge by a key, `[T]@` one that they unite,
//! `T@-` an object that they replace, `{T}` a map from names. `*` marks a pointer (an empty value is kept, an absent
//! one stays absent), `!` a value that is printed even if empty. Values of a type that is not named here are kept as
//! they are. Later changes stand in the files of the releases (`profile/releases`).

pub(super) const TYPES: &str = "\
ObjectMeta = name:str generateName:str namespace:str selfLink:str uid:str resourceVersion:str generation:int \
    creationTimestamp:time* deletionTimestamp:time* deletionGracePeriodSeconds:int* labels:{str} annotations:{str} \
    ownerReferences:[OwnerReference]@uid finalizers:[str]@ managedFields:[ManagedFieldsEntry]\n\
OwnerReference = apiVersion:str! kind:str! name:str! uid:str! controller:bool* blockOwnerDeletion:bool*\n\
ManagedFieldsEntry = manager:str operation:str apiVersion:str time:time* fieldsType:str fieldsV1:any subresource:str\n\
Binding = kind:str apiVersion:str metadata:ObjectMeta target:ObjectReference\n\
Eviction = kind:str apiVersion:str metadata:ObjectMeta deleteOptions:DeleteOptions*\n\
TokenRequest = kind:str apiVersion:str metadata:ObjectMeta spec:TokenRequestSpec status:any\n\
TokenRequestSpec = audiences:[str] expirationSeconds:int* boundObjectRef:BoundObjectReference*\n\
BoundObjectReference = kind:str apiVersion:str name:str uid:str\n\
TokenReview = kind:str apiVersion:str metadata:ObjectMeta spec:TokenReviewSpec status:any\n\
TokenReviewSpec = token:str audiences:[str]\n\
SelfSubjectReview = kind:str apiVersion:str metadata:ObjectMeta status:any\n\
SelfSubjectRulesReview = kind:str apiVersion:str metadata:ObjectMeta spec:SelfSubjectRulesReviewSpec status:any\n\
SelfSubjectRulesReviewSpec = namespace:str\n\
SubjectAccessReview = kind:str apiVersion:str metadata:ObjectMeta spec:SubjectAccessReviewSpec status:any\n\
LocalSubjectAccessReview = kind:str apiVersion:str metadata:ObjectMeta spec:SubjectAccessReviewSpec status:any\n\
SelfSubjectAccessReview = kind:str apiVersion:str metadata:ObjectMeta spec:SelfSubjectAccessReviewSpec status:any\n\
SubjectAccessReviewSpec = resourceAttributes:ResourceAttributes* nonResourceAttributes:NonResourceAttributes* \
    user:str groups:[str] extra:{any} uid:str\n\
SelfSubjectAccessReviewSpec = resourceAttributes:ResourceAttributes* nonResourceAttributes:NonResourceAttributes*\n\
ResourceAttributes = namespace:str verb:str group:str version:str resource:str subresource:str name:str \
    fieldSelector:any labelSelector:any\n\
NonResourceAttributes = path:str verb:str\n\
jsonPatchOp = op:str path:str from:str value:any\n\
DeleteOptions = kind:str apiVersion:str gracePeriodSeconds:int* preconditions:Preconditions* orphanDependents:bool* \
    propagationPolicy:str* dryRun:[str] ignoreStoreReadErrorWithClusterBreakingPotential:bool*\n\
Preconditions = uid:str* resourceVersion:str*\n\
LabelSelector = matchLabels:{str} matchExpressions:[LabelSelectorRequirement]\n\
LabelSelectorRequirement = key:str! operator:str! values:[str]\n\
Condition = type:str! status:str! observedGeneration:int lastTransitionTime:time reason:str! message:str!\n\
\n\
Node = kind:str apiVersion:str metadata:ObjectMeta spec:NodeSpec status:NodeStatus\n\
NodeSpec = podCIDR:str podCIDRs:[str]@ providerID:str unschedulable:bool taints:[Taint] \
    configSource:NodeConfigSource* externalID:str\n\
NodeConfigSource = configMap:ConfigMapNodeConfigSource*\n\
ConfigMapNodeConfigSource = namespace:str! name:str! uid:str resourceVersion:str kubeletConfigKey:str!\n\
Taint = key:str! value:str effect:str! timeAdded:time*\n\
NodeStatus = capacity:{quantity} allocatable:{quantity} phase:str conditions:[NodeCondition]@type \
    addresses:[NodeAddress]@type daemonEndpoints:NodeDaemonEndpoints nodeInfo:NodeSystemInfo images:[ContainerImage] \
    volumesInUse:[str] volumesAttached:[AttachedVolume] config:NodeConfigStatus* \
    runtimeHandlers:[NodeRuntimeHandler] features:NodeFeatures*\n\
NodeCondition = type:str! status:str! lastHeartbeatTime:time lastTransitionTime:time reason:str message:str\n\
NodeAddress = type:str! address:str!\n\
NodeDaemonEndpoints = kubeletEndpoint:DaemonEndpoint\n\
DaemonEndpoint = Port:int32!\n\
NodeSystemInfo = machineID:str! systemUUID:str! bootID:str! kernelVersion:str! osImage:str! \
    containerRuntimeVersion:str! kubeletVersion:str! kubeProxyVersion:str! operatingSystem:str! architecture:str!\n\
NodeSwapStatus = capacity:int*\n\
ContainerImage = names:[str]! sizeBytes:int\n\
AttachedVolume = name:str! devicePath:str!\n\
NodeConfigStatus = assigned:NodeConfigSource* active:NodeConfigSource* lastKnownGood:NodeConfigSource* error:str\n\
NodeConfigSource = configMap:ConfigMapNodeConfigSource*\n\
ConfigMapNodeConfigSource = namespace:str! name:str! uid:str resourceVersion:str kubeletConfigKey:str!\n\
NodeRuntimeHandler = name:str! features:NodeRuntimeHandlerFeatures*\n\
NodeRuntimeHandlerFeatures = recursiveReadOnlyMounts:bool* userNamespaces:bool*\n\
NodeFeatures = supplementalGroupsPolicy:bool*\n\
\n\
Lease = kind:str apiVersion:str metadata:ObjectMeta spec:LeaseSpec\n\
LeaseSpec = holderIdentity:str* leaseDurationSeconds:int32* acquireTime:microtime* renewTime:microtime* \
    leaseTransitions:int32* strategy:str* preferredHolder:str*\n\
\n\
Namespace = kind:str apiVersion:str metadata:ObjectMeta spec:NamespaceSpec status:NamespaceStatus\n\
NamespaceSpec = finalizers:[str]\n\
NamespaceStatus = phase:str conditions:[NamespaceCondition]@type\n\
NamespaceCondition = type:str! status:str! lastTransitionTime:time reason:str message:str\n\
\n\
Event = kind:str apiVersion:str metadata:ObjectMeta! involvedObject:ObjectReference reason:str message:str \
    source:EventSource firstTimestamp:time lastTimestamp:time count:int32 type:str eventTime:microtime \
    series:EventSeries* action:str related:ObjectReference* reportingComponent:str! reportingInstance:str!\n\
ObjectReference = kind:str namespace:str name:str uid:str apiVersion:str resourceVersion:str fieldPath:str\n\
EventSource = component:str host:str\n\
EventSeries = count:int32 lastObservedTime:microtime\n\
\n\
CSINode = kind:str apiVersion:str metadata:ObjectMeta spec:CSINodeSpec\n\
CSINodeSpec = drivers:[CSINodeDriver]@name!\n\
CSINodeDriver = name:str! nodeID:str! topologyKeys:[str]! allocatable:VolumeNodeResources*\n\
VolumeNodeResources = count:int32*\n\
CSIDriver = kind:str apiVersion:str metadata:ObjectMeta spec:CSIDriverSpec!\n\
CSIDriverSpec = attachRequired:bool* podInfoOnMount:bool* volumeLifecycleModes:[str]@ storageCapacity:bool* \
    fsGroupPolicy:str* tokenRequests:[CSITokenRequest] requiresRepublish:bool* seLinuxMount:bool*\n\
CSITokenRequest = audience:str! expirationSeconds:int*\n\
StorageClass = kind:str apiVersion:str metadata:ObjectMeta provisioner:str! parameters:{str} reclaimPolicy:str* \
    mountOptions:[str] allowVolumeExpansion:bool* volumeBindingMode:str* allowedTopologies:[TopologySelectorTerm]\n\
TopologySelectorTerm = matchLabelExpressions:[TopologySelectorLabelRequirement]\n\
TopologySelectorLabelRequirement = key:str! values:[str]!\n\
VolumeAttachment = kind:str apiVersion:str metadata:ObjectMeta spec:VolumeAttachmentSpec! \
    status:VolumeAttachmentStatus\n\
VolumeAttachmentSpec = attacher:str! source:VolumeAttachmentSource! nodeName:str!\n\
VolumeAttachmentSource = persistentVolumeName:str* inlineVolumeSpec:PersistentVolumeSpec*\n\
VolumeAttachmentStatus = attached:bool! attachmentMetadata:{str} attachError:VolumeError* detachError:VolumeError*\n\
VolumeError = time:time message:str\n\
\n\
PersistentVolume = kind:str apiVersion:str metadata:ObjectMeta spec:PersistentVolumeSpec \
    status:PersistentVolumeStatus\n\
PersistentVolumeSpec = capacity:{quantity} csi:CSIPersistentVolumeSource* hostPath:HostPathVolumeSource* \
    local:LocalVolumeSource* nfs:NFSVolumeSource* iscsi:ISCSIPersistentVolumeSource* fc:FCVolumeSource* \
    gcePersistentDisk:GCEPersistentDiskVolumeSource* awsElasticBlockStore:AWSElasticBlockStoreVolumeSource* \
    glusterfs:GlusterfsPersistentVolumeSource* rbd:RBDPersistentVolumeSource* cinder:CinderPersistentVolumeSource* \
    cephfs:CephFSPersistentVolumeSource* flocker:FlockerVolumeSource* flexVolume:FlexPersistentVolumeSource* \
    azureFile:AzureFilePersistentVolumeSource* vsphereVolume:VsphereVirtualDiskVolumeSource* \
    quobyte:QuobyteVolumeSource* azureDisk:AzureDiskVolumeSource* \
    photonPersistentDisk:PhotonPersistentDiskVolumeSource* portworxVolume:PortworxVolumeSource* \
    scaleIO:ScaleIOPersistentVolumeSource* storageos:StorageOSPersistentVolumeSource* accessModes:[str] \
    claimRef:ObjectReference* persistentVolumeReclaimPolicy:str storageClassName:str mountOptions:[str] \
    volumeMode:str* nodeAffinity:VolumeNodeAffinity* volumeAttributesClassName:str*\n\
CSIPersistentVolumeSource = driver:str! volumeHandle:str! readOnly:bool fsType:str volumeAttributes:{str} \
    controllerPublishSecretRef:SecretReference* nodeStageSecretRef:SecretReference* \
    nodePublishSecretRef:SecretReference* controllerExpandSecretRef:SecretReference* \
    nodeExpandSecretRef:SecretReference*\n\
SecretReference = name:str namespace:str\n\
LocalVolumeSource = path:str! fsType:str*\n\
NFSVolumeSource = server:str! path:str! readOnly:bool\n\
VolumeNodeAffinity = required:NodeSelector*\n\
PersistentVolumeStatus = phase:str message:str reason:str lastPhaseTransitionTime:time*\n\
PersistentVolumeClaim = kind:str apiVersion:str metadata:ObjectMeta spec:PersistentVolumeClaimSpec \
    status:PersistentVolumeClaimStatus\n\
PersistentVolumeClaimSpec = accessModes:[str] selector:LabelSelector* resources:VolumeResourceRequirements \
    volumeName:str storageClassName:str* volumeMode:str* dataSource:TypedLocalObjectReference* \
    dataSourceRef:TypedObjectReference* volumeAttributesClassName:str*\n\
TypedLocalObjectReference = apiGroup:any! kind:str! name:str!\n\
TypedObjectReference = apiGroup:any! kind:str! name:str! namespace:str*\n\
VolumeResourceRequirements = limits:{quantity} requests:{quantity}\n\
PersistentVolumeClaimStatus = phase:str accessModes:[str] capacity:{quantity} \
    conditions:[PersistentVolumeClaimCondition]@type allocatedResources:{quantity} allocatedResourceStatuses:{str} \
    currentVolumeAttributesClassName:str* modifyVolumeStatus:ModifyVolumeStatus*\n\
ModifyVolumeStatus = targetVolumeAttributesClassName:str status:str!\n\
PersistentVolumeClaimCondition = type:str! status:str! lastProbeTime:time lastTransitionTime:time reason:str \
    message:str\n\
\n\
RuntimeClass = kind:str apiVersion:str metadata:ObjectMeta handler:str! overhead:Overhead* scheduling:Scheduling*\n\
Overhead = podFixed:{quantity}\n\
Scheduling = nodeSelector:{str} tolerations:[Toleration]\n\
\n\
PriorityClass = kind:str apiVersion:str metadata:ObjectMeta value:int32! globalDefault:bool description:str \
    preemptionPolicy:str*\n\
\n\
PodDisruptionBudget = kind:str apiVersion:str metadata:ObjectMeta spec:PodDisruptionBudgetSpec \
    status:PodDisruptionBudgetStatus\n\
PodDisruptionBudgetSpec = minAvailable:intstr* selector:LabelSelector@-* maxUnavailable:intstr* \
    unhealthyPodEvictionPolicy:str*\n\
PodDisruptionBudgetStatus = observedGeneration:int disruptedPods:{time} disruptionsAllowed:int32! \
    currentHealthy:int32! desiredHealthy:int32! expectedPods:int32! conditions:[Condition]@type\n\
\n\
Pod = kind:str apiVersion:str metadata:ObjectMeta spec:PodSpec status:PodStatus\n\
PodSpec = volumes:[Volume]@name initContainers:[Container]@name containers:[Container]@name! \
    ephemeralContainers:[EphemeralContainer]@name restartPolicy:str terminationGracePeriodSeconds:int* \
    activeDeadlineSeconds:int* dnsPolicy:str nodeSelector:{str} serviceAccountName:str serviceAccount:str \
    automountServiceAccountToken:bool* nodeName:str hostNetwork:bool hostPID:bool hostIPC:bool \
    shareProcessNamespace:bool* securityContext:PodSecurityContext* imagePullSecrets:[LocalObjectReference]@name \
    hostname:str subdomain:str affinity:Affinity* schedulerName:str tolerations:[Toleration] \
    hostAliases:[HostAlias]@ip priorityClassName:str priority:int32* dnsConfig:PodDNSConfig* \
    readinessGates:[PodReadinessGate] runtimeClassName:str* enableServiceLinks:bool* preemptionPolicy:str* \
    overhead:{quantity} topologySpreadConstraints:[TopologySpreadConstraint]@topologyKey setHostnameAsFQDN:bool* \
    os:PodOS* hostUsers:bool* schedulingGates:[PodSchedulingGate]@name resourceClaims:[PodResourceClaim]@name\n\
Toleration = key:str operator:str value:str effect:str tolerationSeconds:int*\n\
LocalObjectReference = name:str\n\
HostAlias = ip:str! hostnames:[str]\n\
PodDNSConfig = nameservers:[str] searches:[str] options:[PodDNSConfigOption]\n\
PodDNSConfigOption = name:str value:str*\n\
PodReadinessGate = conditionType:str!\n\
PodOS = name:str!\n\
PodSchedulingGate = name:str!\n\
PodResourceClaim = name:str! resourceClaimName:str* resourceClaimTemplateName:str*\n\
TopologySpreadConstraint = maxSkew:int32! topologyKey:str! whenUnsatisfiable:str! labelSelector:LabelSelector* \
    minDomains:int32* nodeAffinityPolicy:str* nodeTaintsPolicy:str* matchLabelKeys:[str]\n\
PodSecurityContext = seLinuxOptions:SELinuxOptions* windowsOptions:WindowsSecurityContextOptions* runAsUser:int* \
    runAsGroup:int* runAsNonRoot:bool* supplementalGroups:[int] supplementalGroupsPolicy:str* fsGroup:int* \
    sysctls:[Sysctl] fsGroupChangePolicy:str* seccompProfile:SeccompProfile* appArmorProfile:AppArmorProfile*\n\
SELinuxOptions = user:str role:str type:str level:str\n\
Sysctl = name:str! value:str!\n\
Affinity = nodeAffinity:NodeAffinity* podAffinity:PodAffinity* podAntiAffinity:PodAffinity*\n\
NodeAffinity = requiredDuringSchedulingIgnoredDuringExecution:NodeSelector* \
    preferredDuringSchedulingIgnoredDuringExecution:[PreferredSchedulingTerm]\n\
NodeSelector = nodeSelectorTerms:[NodeSelectorTerm]!\n\
NodeSelectorTerm = matchExpressions:[NodeSelectorRequirement] matchFields:[NodeSelectorRequirement]\n\
NodeSelectorRequirement = key:str! operator:str! values:[str]\n\
PreferredSchedulingTerm = weight:int32! preference:NodeSelectorTerm\n\
PodAffinity = requiredDuringSchedulingIgnoredDuringExecution:[PodAffinityTerm] \
    preferredDuringSchedulingIgnoredDuringExecution:[WeightedPodAffinityTerm]\n\
PodAffinityTerm = labelSelector:LabelSelector* namespaces:[str] topologyKey:str! namespaceSelector:LabelSelector* \
    matchLabelKeys:[str] mismatchLabelKeys:[str]\n\
WeightedPodAffinityTerm = weight:int32! podAffinityTerm:PodAffinityTerm\n\
Container = name:str! image:str command:[str] args:[str] workingDir:str ports:[ContainerPort]@containerPort \
    envFrom:[EnvFromSource] env:[EnvVar]@name resources:ResourceRequirements resizePolicy:[ContainerResizePolicy] \
    restartPolicy:str* volumeMounts:[VolumeMount]@mountPath volumeDevices:[VolumeDevice]@devicePath \
    livenessProbe:Probe* readinessProbe:Probe* startupProbe:Probe* lifecycle:Lifecycle* terminationMessagePath:str \
    terminationMessagePolicy:str imagePullPolicy:str securityContext:SecurityContext* stdin:bool stdinOnce:bool \
    tty:bool\n\
EphemeralContainer = name:str! image:str command:[str] args:[str] workingDir:str \
    ports:[ContainerPort]@containerPort envFrom:[EnvFromSource] env:[EnvVar]@name resources:ResourceRequirements \
    resizePolicy:[ContainerResizePolicy] restartPolicy:str* volumeMounts:[VolumeMount]@mountPath \
    volumeDevices:[VolumeDevice]@devicePath livenessProbe:Probe* readinessProbe:Probe* startupProbe:Probe* \
    lifecycle:Lifecycle* terminationMessagePath:str terminationMessagePolicy:str imagePullPolicy:str \
    securityContext:SecurityContext* stdin:bool stdinOnce:bool tty:bool targetContainerName:str\n\
ContainerPort = name:str hostPort:int32 containerPort:int32! protocol:str hostIP:str\n\
EnvFromSource = prefix:str configMapRef:ConfigMapEnvSource* secretRef:SecretEnvSource*\n\
EnvVar = name:str! value:str valueFrom:EnvVarSource*\n\
EnvVarSource = fieldRef:ObjectFieldSelector* resourceFieldRef:ResourceFieldSelector* \
    configMapKeyRef:ConfigMapKeySelector* secretKeyRef:SecretKeySelector*\n\
ObjectFieldSelector = apiVersion:str fieldPath:str!\n\
ResourceRequirements = limits:{quantity} requests:{quantity} claims:[ResourceClaim]@name\n\
ContainerResizePolicy = resourceName:str! restartPolicy:str!\n\
VolumeMount = name:str! readOnly:bool recursiveReadOnly:str* mountPath:str! subPath:str mountPropagation:str* \
    subPathExpr:str\n\
VolumeDevice = name:str! devicePath:str!\n\
Probe = exec:ExecAction* httpGet:HTTPGetAction* tcpSocket:TCPSocketAction* grpc:GRPCAction* \
    initialDelaySeconds:int32 timeoutSeconds:int32 periodSeconds:int32 successThreshold:int32 \
    failureThreshold:int32 terminationGracePeriodSeconds:int*\n\
HTTPGetAction = path:str port:intstr! host:str scheme:str httpHeaders:[HTTPHeader]\n\
Volume = name:str! hostPath:HostPathVolumeSource* emptyDir:EmptyDirVolumeSource* secret:SecretVolumeSource* \
    configMap:ConfigMapVolumeSource* persistentVolumeClaim:PersistentVolumeClaimVolumeSource* \
    projected:ProjectedVolumeSource* downwardAPI:DownwardAPIVolumeSource* csi:CSIVolumeSource* \
    nfs:NFSVolumeSource* iscsi:ISCSIVolumeSource* ephemeral:EphemeralVolumeSource* image:ImageVolumeSource* \
    gcePersistentDisk:GCEPersistentDiskVolumeSource* awsElasticBlockStore:AWSElasticBlockStoreVolumeSource* \
    gitRepo:GitRepoVolumeSource* glusterfs:GlusterfsVolumeSource* rbd:RBDVolumeSource* \
    flexVolume:FlexVolumeSource* cinder:CinderVolumeSource* cephfs:CephFSVolumeSource* \
    flocker:FlockerVolumeSource* fc:FCVolumeSource* azureFile:AzureFileVolumeSource* \
    vsphereVolume:VsphereVirtualDiskVolumeSource* quobyte:QuobyteVolumeSource* azureDisk:AzureDiskVolumeSource* \
    photonPersistentDisk:PhotonPersistentDiskVolumeSource* portworxVolume:PortworxVolumeSource* \
    scaleIO:ScaleIOVolumeSource* storageos:StorageOSVolumeSource*\n\
HostPathVolumeSource = path:str! type:str*\n\
EmptyDirVolumeSource = medium:str sizeLimit:quantity*\n\
SecretVolumeSource = secretName:str items:[KeyToPath] defaultMode:int32* optional:bool*\n\
ConfigMapVolumeSource = name:str items:[KeyToPath] defaultMode:int32* optional:bool*\n\
PersistentVolumeClaimVolumeSource = claimName:str! readOnly:bool\n\
ProjectedVolumeSource = sources:[VolumeProjection]! defaultMode:int32*\n\
Lifecycle = postStart:LifecycleHandler* preStop:LifecycleHandler*\n\
ExecAction = command:[str]\n\
TCPSocketAction = port:intstr! host:str\n\
GRPCAction = port:int32! service:str!\n\
HTTPHeader = name:str! value:str!\n\
SecurityContext = capabilities:Capabilities* privileged:bool* seLinuxOptions:SELinuxOptions* \
    windowsOptions:WindowsSecurityContextOptions* runAsUser:int* runAsGroup:int* runAsNonRoot:bool* \
    readOnlyRootFilesystem:bool* allowPrivilegeEscalation:bool* procMount:str* seccompProfile:SeccompProfile* \
    appArmorProfile:AppArmorProfile*\n\
SeccompProfile = type:str! localhostProfile:str*\n\
AppArmorProfile = type:str! localhostProfile:str*\n\
WindowsSecurityContextOptions = gmsaCredentialSpecName:str* gmsaCredentialSpec:str* runAsUserName:str* \
    hostProcess:bool*\n\
ConfigMapEnvSource = name:str optional:bool*\n\
SecretEnvSource = name:str optional:bool*\n\
ResourceFieldSelector = containerName:str resource:str! divisor:quantity\n\
ConfigMapKeySelector = name:str key:str! optional:bool*\n\
SecretKeySelector = name:str key:str! optional:bool*\n\
ResourceClaim = name:str! request:str\n\
KeyToPath = key:str! path:str! mode:int32*\n\
VolumeProjection = secret:SecretProjection* downwardAPI:DownwardAPIProjection* configMap:ConfigMapProjection* \
    serviceAccountToken:ServiceAccountTokenProjection* clusterTrustBundle:ClusterTrustBundleProjection*\n\
DownwardAPIVolumeSource = items:[DownwardAPIVolumeFile] defaultMode:int32*\n\
CSIVolumeSource = driver:str! readOnly:bool* fsType:str* volumeAttributes:{str} \
    nodePublishSecretRef:LocalObjectReference*\n\
EphemeralVolumeSource = volumeClaimTemplate:PersistentVolumeClaimTemplate*\n\
ImageVolumeSource = reference:str pullPolicy:str\n\
ISCSIVolumeSource = targetPortal:str! iqn:str! lun:int32! iscsiInterface:str fsType:str readOnly:bool \
    portals:[str] chapAuthDiscovery:bool chapAuthSession:bool secretRef:LocalObjectReference* initiatorName:str*\n\
ISCSIPersistentVolumeSource = targetPortal:str! iqn:str! lun:int32! iscsiInterface:str fsType:str readOnly:bool \
    portals:[str] chapAuthDiscovery:bool chapAuthSession:bool secretRef:SecretReference* initiatorName:str*\n\
FCVolumeSource = targetWWNs:[str] lun:int32* fsType:str readOnly:bool wwids:[str]\n\
GCEPersistentDiskVolumeSource = pdName:str! fsType:str partition:int32 readOnly:bool\n\
AWSElasticBlockStoreVolumeSource = volumeID:str! fsType:str partition:int32 readOnly:bool\n\
GitRepoVolumeSource = repository:str! revision:str directory:str\n\
GlusterfsVolumeSource = endpoints:str! path:str! readOnly:bool\n\
GlusterfsPersistentVolumeSource = endpoints:str! path:str! readOnly:bool endpointsNamespace:str*\n\
RBDVolumeSource = monitors:[str]! image:str! fsType:str pool:str user:str keyring:str \
    secretRef:LocalObjectReference* readOnly:bool\n\
RBDPersistentVolumeSource = monitors:[str]! image:str! fsType:str pool:str user:str keyring:str \
    secretRef:SecretReference* readOnly:bool\n\
FlexVolumeSource = driver:str! fsType:str secretRef:LocalObjectReference* readOnly:bool options:{str}\n\
FlexPersistentVolumeSource = driver:str! fsType:str secretRef:SecretReference* readOnly:bool options:{str}\n\
CinderVolumeSource = volumeID:str! fsType:str readOnly:bool secretRef:LocalObjectReference*\n\
CinderPersistentVolumeSource = volumeID:str! fsType:str readOnly:bool secretRef:SecretReference*\n\
CephFSVolumeSource = monitors:[str]! path:str user:str secretFile:str secretRef:LocalObjectReference* \
    readOnly:bool\n\
CephFSPersistentVolumeSource = monitors:[str]! path:str user:str secretFile:str secretRef:SecretReference* \
    readOnly:bool\n\
FlockerVolumeSource = datasetName:str datasetUUID:str\n\
AzureFileVolumeSource = secretName:str! shareName:str! readOnly:bool\n\
AzureFilePersistentVolumeSource = secretName:str! shareName:str! readOnly:bool secretNamespace:any!\n\
VsphereVirtualDiskVolumeSource = volumePath:str! fsType:str storagePolicyName:str storagePolicyID:str\n\
QuobyteVolumeSource = registry:str! volume:str! readOnly:bool user:str group:str tenant:str\n\
AzureDiskVolumeSource = diskName:str! diskURI:str! cachingMode:str* fsType:str* readOnly:bool* kind:str*\n\
PhotonPersistentDiskVolumeSource = pdID:str! fsType:str\n\
PortworxVolumeSource = volumeID:str! fsType:str readOnly:bool\n\
ScaleIOVolumeSource = gateway:str! system:str! secretRef:LocalObjectReference* sslEnabled:bool \
    protectionDomain:str storagePool:str storageMode:str volumeName:str fsType:str readOnly:bool\n\
ScaleIOPersistentVolumeSource = gateway:str! system:str! secretRef:SecretReference* sslEnabled:bool \
    protectionDomain:str storagePool:str storageMode:str volumeName:str fsType:str readOnly:bool\n\
StorageOSVolumeSource = volumeName:str volumeNamespace:str fsType:str readOnly:bool \
    secretRef:LocalObjectReference*\n\
StorageOSPersistentVolumeSource = volumeName:str volumeNamespace:str fsType:str readOnly:bool \
    secretRef:ObjectReference*\n\
LifecycleHandler = exec:ExecAction* httpGet:HTTPGetAction* tcpSocket:TCPSocketAction* sleep:SleepAction*\n\
Capabilities = add:[str] drop:[str]\n\
ClusterTrustBundleProjection = name:str* signerName:str* labelSelector:LabelSelector* optional:bool* path:str!\n\
ConfigMapProjection = name:str items:[KeyToPath] optional:bool*\n\
DownwardAPIProjection = items:[DownwardAPIVolumeFile]\n\
SecretProjection = name:str items:[KeyToPath] optional:bool*\n\
ServiceAccountTokenProjection = audience:str expirationSeconds:int* path:str!\n\
DownwardAPIVolumeFile = path:str! fieldRef:ObjectFieldSelector* resourceFieldRef:ResourceFieldSelector* \
    mode:int32*\n\
PersistentVolumeClaimTemplate = metadata:ObjectMeta spec:PersistentVolumeClaimSpec!\n\
SleepAction = seconds:int!\n\
PodStatus = phase:str conditions:[PodCondition]@type message:str reason:str nominatedNodeName:str hostIP:str \
    hostIPs:[HostIP]@ip podIP:str podIPs:[PodIP]@ip startTime:time* initContainerStatuses:[ContainerStatus] \
    containerStatuses:[ContainerStatus] qosClass:str ephemeralContainerStatuses:[ContainerStatus] resize:str \
    resourceClaimStatuses:[PodResourceClaimStatus]@name\n\
PodExtendedResourceClaimStatus = requestMappings:[ContainerExtendedResourceRequest]! resourceClaimName:str!\n\
ContainerExtendedResourceRequest = containerName:str! resourceName:str! requestName:str!\n\
HostIP = ip:str!\n\
PodIP = ip:str!\n\
PodCondition = type:str! status:str! lastProbeTime:time lastTransitionTime:time reason:str message:str\n\
PodResourceClaimStatus = name:str! resourceClaimName:str*\n\
ContainerStatus = name:str! state:ContainerState lastState:ContainerState ready:bool! restartCount:int32! image:str! \
    imageID:str! containerID:str started:bool* allocatedResources:{quantity} resources:ResourceRequirements* \
    volumeMounts:[VolumeMountStatus]@mountPath user:ContainerUser* \
    allocatedResourcesStatus:[ResourceStatus]@name\n\
ContainerUser = linux:LinuxContainerUser*\n\
LinuxContainerUser = uid:int! gid:int! supplementalGroups:[int]\n\
ResourceStatus = name:str! resources:[ResourceHealth]@resourceID\n\
ResourceHealth = resourceID:str! health:str\n\
VolumeMountStatus = name:str! mountPath:str! readOnly:bool recursiveReadOnly:str*\n\
ContainerState = waiting:ContainerStateWaiting* running:ContainerStateRunning* terminated:ContainerStateTerminated*\n\
ContainerStateWaiting = reason:str message:str\n\
ContainerStateRunning = startedAt:time\n\
ContainerStateTerminated = exitCode:int32! signal:int32 reason:str message:str startedAt:time finishedAt:time \
    containerID:str\n\
\n\
PodTemplate = kind:str apiVersion:str metadata:ObjectMeta template:PodTemplateSpec\n\
PodTemplateSpec = metadata:ObjectMeta spec:PodSpec\n\
DaemonSet = kind:str apiVersion:str metadata:ObjectMeta spec:DaemonSetSpec status:DaemonSetStatus\n\
DaemonSetSpec = selector:LabelSelector* template:PodTemplateSpec updateStrategy:DaemonSetUpdateStrategy \
    minReadySeconds:int32 revisionHistoryLimit:int32*\n\
DaemonSetUpdateStrategy = type:str rollingUpdate:RollingUpdateDaemonSet*\n\
RollingUpdateDaemonSet = maxUnavailable:intstr* maxSurge:intstr*\n\
DaemonSetStatus = currentNumberScheduled:int32! numberMisscheduled:int32! desiredNumberScheduled:int32! \
    numberReady:int32! observedGeneration:int updatedNumberScheduled:int32 numberAvailable:int32 \
    numberUnavailable:int32 collisionCount:int32* conditions:[WorkloadCondition]@type\n\
WorkloadCondition = type:str! status:str! lastUpdateTime:time* lastTransitionTime:time reason:str message:str\n\
Deployment = kind:str apiVersion:str metadata:ObjectMeta spec:DeploymentSpec status:DeploymentStatus\n\
DeploymentSpec = replicas:int32* selector:LabelSelector* template:PodTemplateSpec strategy:DeploymentStrategy \
    minReadySeconds:int32 revisionHistoryLimit:int32* paused:bool progressDeadlineSeconds:int32*\n\
DeploymentStrategy = type:str rollingUpdate:RollingUpdateDeployment*\n\
RollingUpdateDeployment = maxUnavailable:intstr* maxSurge:intstr*\n\
DeploymentStatus = observedGeneration:int replicas:int32 updatedReplicas:int32 readyReplicas:int32 \
    availableReplicas:int32 unavailableReplicas:int32 conditions:[DeploymentCondition]@type collisionCount:int32*\n\
DeploymentCondition = type:str! status:str! lastUpdateTime:time lastTransitionTime:time reason:str message:str\n\
ControllerRevision = kind:str apiVersion:str metadata:ObjectMeta data:any revision:int!\n\
ReplicaSet = kind:str apiVersion:str metadata:ObjectMeta spec:ReplicaSetSpec status:ReplicaSetStatus\n\
ReplicaSetSpec = replicas:int32* minReadySeconds:int32 selector:LabelSelector* template:PodTemplateSpec\n\
ReplicaSetStatus = replicas:int32! fullyLabeledReplicas:int32 readyReplicas:int32 availableReplicas:int32 \
    observedGeneration:int conditions:[WorkloadCondition]@type\n\
ReplicationController = kind:str apiVersion:str metadata:ObjectMeta spec:ReplicationControllerSpec \
    status:ReplicationControllerStatus\n\
ReplicationControllerStatus = replicas:int32! fullyLabeledReplicas:int32 readyReplicas:int32 availableReplicas:int32 \
    observedGeneration:int conditions:[WorkloadCondition]@type\n\
Scale = kind:str apiVersion:str metadata:ObjectMeta spec:ScaleSpec status:ScaleStatus\n\
ScaleSpec = replicas:int32\n\
ScaleStatus = replicas:int32! selector:str\n\
ReplicationControllerSpec = replicas:int32* minReadySeconds:int32 selector:{str} template:PodTemplateSpec*\n\
Service = kind:str apiVersion:str metadata:ObjectMeta spec:ServiceSpec status:ServiceStatus\n\
ServiceSpec = ports:[ServicePort]@port selector:{str} clusterIP:str clusterIPs:[str] type:str externalIPs:[str] \
    sessionAffinity:str loadBalancerIP:str loadBalancerSourceRanges:[str] externalName:str externalTrafficPolicy:str \
    healthCheckNodePort:int32 publishNotReadyAddresses:bool sessionAffinityConfig:SessionAffinityConfig* \
    ipFamilies:[str] ipFamilyPolicy:str* allocateLoadBalancerNodePorts:bool* loadBalancerClass:str* \
    internalTrafficPolicy:str* trafficDistribution:str*\n\
SessionAffinityConfig = clientIP:ClientIPConfig*\n\
ClientIPConfig = timeoutSeconds:int32*\n\
ServicePort = name:str protocol:str appProtocol:str* port:int32! targetPort:intstr nodePort:int32\n\
ServiceStatus = loadBalancer:LoadBalancerStatus conditions:[Condition]@type\n\
LoadBalancerStatus = ingress:[LoadBalancerIngress]\n\
LoadBalancerIngress = ip:str hostname:str ipMode:str* ports:[PortStatus]\n\
PortStatus = port:int32! protocol:str! error:str*\n\
StatefulSet = kind:str apiVersion:str metadata:ObjectMeta spec:StatefulSetSpec status:StatefulSetStatus\n\
StatefulSetSpec = replicas:int32* selector:LabelSelector* template:PodTemplateSpec \
    volumeClaimTemplates:[PersistentVolumeClaim] serviceName:str! podManagementPolicy:str \
    updateStrategy:StatefulSetUpdateStrategy revisionHistoryLimit:int32* minReadySeconds:int32 \
    persistentVolumeClaimRetentionPolicy:StatefulSetPersistentVolumeClaimRetentionPolicy* \
    ordinals:StatefulSetOrdinals*\n\
StatefulSetUpdateStrategy = type:str rollingUpdate:RollingUpdateStatefulSetStrategy*\n\
RollingUpdateStatefulSetStrategy = partition:int32* maxUnavailable:intstr*\n\
StatefulSetPersistentVolumeClaimRetentionPolicy = whenDeleted:str whenScaled:str\n\
StatefulSetOrdinals = start:int32!\n\
StatefulSetStatus = observedGeneration:int replicas:int32! readyReplicas:int32 currentReplicas:int32 \
    updatedReplicas:int32 currentRevision:str updateRevision:str collisionCount:int32* \
    conditions:[WorkloadCondition]@type availableReplicas:int32!\n\
Job = kind:str apiVersion:str metadata:ObjectMeta spec:JobSpec status:JobStatus\n\
JobSpec = parallelism:int32* completions:int32* activeDeadlineSeconds:int* podFailurePolicy:PodFailurePolicy* \
    successPolicy:SuccessPolicy* backoffLimit:int32* backoffLimitPerIndex:int32* maxFailedIndexes:int32* \
    selector:LabelSelector* manualSelector:bool* template:PodTemplateSpec! ttlSecondsAfterFinished:int32* \
    completionMode:str* suspend:bool* podReplacementPolicy:str* managedBy:str*\n\
PodFailurePolicy = rules:[PodFailurePolicyRule]!\n\
PodFailurePolicyRule = action:str! onExitCodes:PodFailurePolicyOnExitCodesRequirement* \
    onPodConditions:[PodFailurePolicyOnPodConditionsPattern]\n\
PodFailurePolicyOnExitCodesRequirement = containerName:str* operator:str! values:[int32]!\n\
PodFailurePolicyOnPodConditionsPattern = type:str! status:str!\n\
SuccessPolicy = rules:[SuccessPolicyRule]!\n\
SuccessPolicyRule = succeededIndexes:str* succeededCount:int32*\n\
JobStatus = conditions:[JobCondition]@type startTime:time* completionTime:time* active:int32 succeeded:int32 \
    failed:int32 terminating:int32* completedIndexes:str failedIndexes:str* \
    uncountedTerminatedPods:UncountedTerminatedPods* ready:int32*\n\
JobCondition = type:str! status:str! lastProbeTime:time lastTransitionTime:time reason:str message:str\n\
UncountedTerminatedPods = succeeded:[str] failed:[str]\n\
CronJob = kind:str apiVersion:str metadata:ObjectMeta spec:CronJobSpec status:CronJobStatus\n\
CronJobSpec = schedule:str! timeZone:str* startingDeadlineSeconds:int* concurrencyPolicy:str suspend:bool* \
    jobTemplate:JobTemplateSpec! successfulJobsHistoryLimit:int32* failedJobsHistoryLimit:int32*\n\
JobTemplateSpec = metadata:ObjectMeta spec:JobSpec\n\
CronJobStatus = active:[ObjectReference] lastScheduleTime:time* lastSuccessfulTime:time*\n\
Role = kind:str apiVersion:str metadata:ObjectMeta rules:[PolicyRule]!\n\
ClusterRole = kind:str apiVersion:str metadata:ObjectMeta rules:[PolicyRule]! aggregationRule:AggregationRule*\n\
AggregationRule = clusterRoleSelectors:[LabelSelector]\n\
PolicyRule = verbs:[str]! apiGroups:[str] resources:[str] resourceNames:[str] nonResourceURLs:[str]\n\
RoleBinding = kind:str apiVersion:str metadata:ObjectMeta subjects:[Subject] roleRef:RoleRef!\n\
ClusterRoleBinding = kind:str apiVersion:str metadata:ObjectMeta subjects:[Subject] roleRef:RoleRef!\n\
Subject = kind:str! apiGroup:str name:str! namespace:str\n\
RoleRef = apiGroup:str! kind:str! name:str!\n\
Endpoints = kind:str apiVersion:str metadata:ObjectMeta subsets:[EndpointSubset]\n\
EndpointSubset = addresses:[EndpointAddress] notReadyAddresses:[EndpointAddress] ports:[CoreEndpointPort]\n\
EndpointAddress = ip:str! hostname:str nodeName:str* targetRef:ObjectReference*\n\
CoreEndpointPort = name:str port:int32! protocol:str appProtocol:str*\n\
EndpointSlice = kind:str apiVersion:str metadata:ObjectMeta addressType:str! endpoints:[Endpoint]! \
    ports:[EndpointPort]!\n\
Endpoint = addresses:[str]! conditions:EndpointConditions hostname:str* targetRef:ObjectReference* \
    deprecatedTopology:{str} nodeName:str* zone:str* hints:EndpointHints*\n\
EndpointHints = forZones:[ForZone]\n\
ForZone = name:str!\n\
EndpointConditions = ready:bool* serving:bool* terminating:bool*\n\
EndpointPort = name:str* protocol:str* port:int32* appProtocol:str*\n\
ConfigMap = kind:str apiVersion:str metadata:ObjectMeta immutable:bool* data:{str} binaryData:{bytes}\n\
Secret = kind:str apiVersion:str metadata:ObjectMeta immutable:bool* data:{bytes} stringData:{str} type:str\n\
LimitRange = kind:str apiVersion:str metadata:ObjectMeta spec:LimitRangeSpec\n\
LimitRangeSpec = limits:[LimitRangeItem]!\n\
LimitRangeItem = type:str! max:{quantity} min:{quantity} default:{quantity} defaultRequest:{quantity} \
    maxLimitRequestRatio:{quantity}\n\
ResourceQuota = kind:str apiVersion:str metadata:ObjectMeta spec:ResourceQuotaSpec status:ResourceQuotaStatus\n\
ResourceQuotaSpec = hard:{quantity} scopes:[str] scopeSelector:ScopeSelector*\n\
ScopeSelector = matchExpressions:[ScopedResourceSelectorRequirement]\n\
ScopedResourceSelectorRequirement = scopeName:str! operator:str! values:[str]\n\
ResourceQuotaStatus = hard:{quantity} used:{quantity}\n\
CertificateSigningRequest = kind:str apiVersion:str metadata:ObjectMeta spec:CertificateSigningRequestSpec! \
    status:CertificateSigningRequestStatus\n\
CertificateSigningRequestSpec = request:bytes! signerName:str! expirationSeconds:int32* usages:[str] username:str \
    uid:str groups:[str] extra:{any}\n\
CertificateSigningRequestStatus = conditions:[CertificateSigningRequestCondition] certificate:bytes\n\
CertificateSigningRequestCondition = type:str! status:str! reason:str message:str lastUpdateTime:time \
    lastTransitionTime:time\n\
ServiceAccount = kind:str apiVersion:str metadata:ObjectMeta secrets:[ObjectReference]@name \
    imagePullSecrets:[LocalObjectReference] automountServiceAccountToken:bool*\n\
";
