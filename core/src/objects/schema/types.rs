//! The fields of the API's types: the table that [`super::Schema`] reads.
//!
//! Source: k8s.io/api {core,coordination,storage,policy,apps,batch,scheduling}/v1 types.go and k8s.io/apimachinery
//! meta/v1 types.go (v1.31 to v1.36): names, `omitempty`, pointers, `patchStrategy` and `patchMergeKey`.
//! One type per line: `Name = field:type …`. Types are `str int int32 bool float quantity intstr time microtime bytes any`
//! or another line's name; `[T]` is a list, `[T]@key` one that patches merge by a key, `[T]@` one that they unite,
//! `{T}` a map from names. `*` marks a pointer (an empty value is kept, an absent one stays absent), `!` a value that
//! is printed even if empty. `>1.33` says since which release a field is known, `<1.36` from which on it is not.
//! A type that is not named here is taken as it comes.

pub(super) const TYPES: &str = r"
ObjectMeta = name:str generateName:str namespace:str selfLink:str uid:str resourceVersion:str generation:int creationTimestamp:time* deletionTimestamp:time* deletionGracePeriodSeconds:int* labels:{str} annotations:{str} ownerReferences:[OwnerReference]@uid finalizers:[str]@ managedFields:[ManagedFieldsEntry]
OwnerReference = apiVersion:str! kind:str! name:str! uid:str! controller:bool* blockOwnerDeletion:bool*
ManagedFieldsEntry = manager:str operation:str apiVersion:str time:time* fieldsType:str fieldsV1:any subresource:str
DeleteOptions = kind:str apiVersion:str gracePeriodSeconds:int* preconditions:Preconditions* orphanDependents:bool* propagationPolicy:str* dryRun:[str] ignoreStoreReadErrorWithClusterBreakingPotential:bool*>1.32
Preconditions = uid:str* resourceVersion:str*
LabelSelector = matchLabels:{str} matchExpressions:[LabelSelectorRequirement]
LabelSelectorRequirement = key:str! operator:str! values:[str]
Condition = type:str! status:str! observedGeneration:int lastTransitionTime:time reason:str! message:str!

Node = kind:str apiVersion:str metadata:ObjectMeta spec:NodeSpec status:NodeStatus
NodeSpec = podCIDR:str podCIDRs:[str]@ providerID:str unschedulable:bool taints:[Taint] configSource:NodeConfigSource* externalID:str
NodeConfigSource = configMap:ConfigMapNodeConfigSource*
ConfigMapNodeConfigSource = namespace:str! name:str! uid:str resourceVersion:str kubeletConfigKey:str!
Taint = key:str! value:str effect:str! timeAdded:time*
NodeStatus = capacity:{quantity} allocatable:{quantity} phase:str conditions:[NodeCondition]@type addresses:[NodeAddress]@type daemonEndpoints:NodeDaemonEndpoints nodeInfo:NodeSystemInfo images:[ContainerImage] volumesInUse:[str] volumesAttached:[AttachedVolume] config:NodeConfigStatus* runtimeHandlers:[NodeRuntimeHandler] features:NodeFeatures* declaredFeatures:[str]>1.35
NodeCondition = type:str! status:str! lastHeartbeatTime:time lastTransitionTime:time reason:str message:str
NodeAddress = type:str! address:str!
NodeDaemonEndpoints = kubeletEndpoint:DaemonEndpoint
DaemonEndpoint = Port:int32!
NodeSystemInfo = machineID:str! systemUUID:str! bootID:str! kernelVersion:str! osImage:str! containerRuntimeVersion:str! kubeletVersion:str! kubeProxyVersion:str! operatingSystem:str! architecture:str! swap:NodeSwapStatus*>1.34
NodeSwapStatus = capacity:int*
ContainerImage = names:[str]! sizeBytes:int
AttachedVolume = name:str! devicePath:str!
NodeConfigStatus = assigned:any active:any lastKnownGood:any error:str
NodeRuntimeHandler = name:str! features:NodeRuntimeHandlerFeatures*
NodeRuntimeHandlerFeatures = recursiveReadOnlyMounts:bool* userNamespaces:bool*
NodeFeatures = supplementalGroupsPolicy:bool*

Lease = kind:str apiVersion:str metadata:ObjectMeta spec:LeaseSpec
LeaseSpec = holderIdentity:str* leaseDurationSeconds:int32* acquireTime:microtime* renewTime:microtime* leaseTransitions:int32* strategy:str* preferredHolder:str*

Namespace = kind:str apiVersion:str metadata:ObjectMeta spec:NamespaceSpec status:NamespaceStatus
NamespaceSpec = finalizers:[str]
NamespaceStatus = phase:str conditions:[NamespaceCondition]@type
NamespaceCondition = type:str! status:str! lastTransitionTime:time* reason:str message:str

Event = kind:str apiVersion:str metadata:ObjectMeta! involvedObject:ObjectReference reason:str message:str source:EventSource firstTimestamp:time lastTimestamp:time count:int32 type:str eventTime:microtime series:EventSeries* action:str related:ObjectReference* reportingComponent:str! reportingInstance:str!
ObjectReference = kind:str namespace:str name:str uid:str apiVersion:str resourceVersion:str fieldPath:str
EventSource = component:str host:str
EventSeries = count:int32 lastObservedTime:microtime

CSINode = kind:str apiVersion:str metadata:ObjectMeta spec:CSINodeSpec
CSINodeSpec = drivers:[CSINodeDriver]@name!
CSINodeDriver = name:str! nodeID:str! topologyKeys:[str]! allocatable:VolumeNodeResources*
VolumeNodeResources = count:int32*

PriorityClass = kind:str apiVersion:str metadata:ObjectMeta value:int32! globalDefault:bool description:str preemptionPolicy:str*

PodDisruptionBudget = kind:str apiVersion:str metadata:ObjectMeta spec:PodDisruptionBudgetSpec status:PodDisruptionBudgetStatus
PodDisruptionBudgetSpec = minAvailable:intstr* selector:LabelSelector* maxUnavailable:intstr* unhealthyPodEvictionPolicy:str*
PodDisruptionBudgetStatus = observedGeneration:int disruptedPods:{time} disruptionsAllowed:int32! currentHealthy:int32! desiredHealthy:int32! expectedPods:int32! conditions:[Condition]@type

Pod = kind:str apiVersion:str metadata:ObjectMeta spec:PodSpec status:PodStatus
PodSpec = volumes:[Volume]@name initContainers:[Container]@name containers:[Container]@name! ephemeralContainers:[EphemeralContainer]@name restartPolicy:str terminationGracePeriodSeconds:int* activeDeadlineSeconds:int* dnsPolicy:str nodeSelector:{str} serviceAccountName:str serviceAccount:str automountServiceAccountToken:bool* nodeName:str hostNetwork:bool hostPID:bool hostIPC:bool shareProcessNamespace:bool* securityContext:PodSecurityContext* imagePullSecrets:[LocalObjectReference]@name hostname:str subdomain:str affinity:Affinity* schedulerName:str tolerations:[Toleration] hostAliases:[HostAlias]@ip priorityClassName:str priority:int32* dnsConfig:PodDNSConfig* readinessGates:[PodReadinessGate] runtimeClassName:str* enableServiceLinks:bool* preemptionPolicy:str* overhead:{quantity} topologySpreadConstraints:[TopologySpreadConstraint]@topologyKey setHostnameAsFQDN:bool* os:PodOS* hostUsers:bool* schedulingGates:[PodSchedulingGate]@name resourceClaims:[PodResourceClaim]@name resources:ResourceRequirements*>1.32 hostnameOverride:str*>1.34 workloadRef:any>1.35
Toleration = key:str operator:str value:str effect:str tolerationSeconds:int*
LocalObjectReference = name:str
HostAlias = ip:str! hostnames:[str]
PodDNSConfig = nameservers:[str] searches:[str] options:[PodDNSConfigOption]
PodDNSConfigOption = name:str value:str*
PodReadinessGate = conditionType:str!
PodOS = name:str!
PodSchedulingGate = name:str!
PodResourceClaim = name:str! resourceClaimName:str* resourceClaimTemplateName:str*
TopologySpreadConstraint = maxSkew:int32! topologyKey:str! whenUnsatisfiable:str! labelSelector:LabelSelector* minDomains:int32* nodeAffinityPolicy:str* nodeTaintsPolicy:str* matchLabelKeys:[str]
PodSecurityContext = seLinuxOptions:SELinuxOptions* windowsOptions:any runAsUser:int* runAsGroup:int* runAsNonRoot:bool* supplementalGroups:[int] supplementalGroupsPolicy:str* fsGroup:int* sysctls:[Sysctl] fsGroupChangePolicy:str* seccompProfile:any appArmorProfile:any seLinuxChangePolicy:str*
SELinuxOptions = user:str role:str type:str level:str
Sysctl = name:str! value:str!
Affinity = nodeAffinity:NodeAffinity* podAffinity:PodAffinity* podAntiAffinity:PodAffinity*
NodeAffinity = requiredDuringSchedulingIgnoredDuringExecution:NodeSelector* preferredDuringSchedulingIgnoredDuringExecution:[PreferredSchedulingTerm]
NodeSelector = nodeSelectorTerms:[NodeSelectorTerm]!
NodeSelectorTerm = matchExpressions:[NodeSelectorRequirement] matchFields:[NodeSelectorRequirement]
NodeSelectorRequirement = key:str! operator:str! values:[str]
PreferredSchedulingTerm = weight:int32! preference:NodeSelectorTerm
PodAffinity = requiredDuringSchedulingIgnoredDuringExecution:[PodAffinityTerm] preferredDuringSchedulingIgnoredDuringExecution:[WeightedPodAffinityTerm]
PodAffinityTerm = labelSelector:LabelSelector* namespaces:[str] topologyKey:str! namespaceSelector:LabelSelector* matchLabelKeys:[str] mismatchLabelKeys:[str]
WeightedPodAffinityTerm = weight:int32! podAffinityTerm:PodAffinityTerm
Container = name:str! image:str command:[str] args:[str] workingDir:str ports:[ContainerPort]@containerPort envFrom:[EnvFromSource] env:[EnvVar]@name resources:ResourceRequirements resizePolicy:[ContainerResizePolicy] restartPolicy:str* restartPolicyRules:[any]>1.34 volumeMounts:[VolumeMount]@mountPath volumeDevices:[VolumeDevice]@devicePath livenessProbe:Probe* readinessProbe:Probe* startupProbe:Probe* lifecycle:any terminationMessagePath:str terminationMessagePolicy:str imagePullPolicy:str securityContext:any stdin:bool stdinOnce:bool tty:bool
EphemeralContainer = name:str! image:str command:[str] args:[str] workingDir:str ports:[ContainerPort]@containerPort envFrom:[EnvFromSource] env:[EnvVar]@name resources:ResourceRequirements resizePolicy:[ContainerResizePolicy] restartPolicy:str* volumeMounts:[VolumeMount]@mountPath volumeDevices:[VolumeDevice]@devicePath livenessProbe:Probe* readinessProbe:Probe* startupProbe:Probe* lifecycle:any terminationMessagePath:str terminationMessagePolicy:str imagePullPolicy:str securityContext:any stdin:bool stdinOnce:bool tty:bool targetContainerName:str
ContainerPort = name:str hostPort:int32 containerPort:int32! protocol:str hostIP:str
EnvFromSource = prefix:str configMapRef:any secretRef:any
EnvVar = name:str! value:str valueFrom:EnvVarSource*
EnvVarSource = fieldRef:ObjectFieldSelector* resourceFieldRef:any configMapKeyRef:any secretKeyRef:any fileKeyRef:any>1.34
ObjectFieldSelector = apiVersion:str fieldPath:str!
ResourceRequirements = limits:{quantity} requests:{quantity} claims:[any]@name
ContainerResizePolicy = resourceName:str! restartPolicy:str!
VolumeMount = name:str! readOnly:bool recursiveReadOnly:str* mountPath:str! subPath:str mountPropagation:str* subPathExpr:str
VolumeDevice = name:str! devicePath:str!
Probe = exec:any httpGet:HTTPGetAction* tcpSocket:any grpc:any initialDelaySeconds:int32 timeoutSeconds:int32 periodSeconds:int32 successThreshold:int32 failureThreshold:int32 terminationGracePeriodSeconds:int*
HTTPGetAction = path:str port:intstr! host:str scheme:str httpHeaders:[any]
Volume = name:str! hostPath:HostPathVolumeSource* emptyDir:EmptyDirVolumeSource* secret:SecretVolumeSource* configMap:ConfigMapVolumeSource* persistentVolumeClaim:PersistentVolumeClaimVolumeSource* projected:ProjectedVolumeSource* downwardAPI:any csi:any nfs:any iscsi:any ephemeral:any image:any gcePersistentDisk:any awsElasticBlockStore:any gitRepo:any glusterfs:any rbd:any flexVolume:any cinder:any cephfs:any flocker:any fc:any azureFile:any vsphereVolume:any quobyte:any azureDisk:any photonPersistentDisk:any portworxVolume:any scaleIO:any storageos:any
HostPathVolumeSource = path:str! type:str*
EmptyDirVolumeSource = medium:str sizeLimit:quantity*
SecretVolumeSource = secretName:str items:[any] defaultMode:int32* optional:bool*
ConfigMapVolumeSource = name:str items:[any] defaultMode:int32* optional:bool*
PersistentVolumeClaimVolumeSource = claimName:str! readOnly:bool
ProjectedVolumeSource = sources:[any]! defaultMode:int32*
PodStatus = observedGeneration:int>1.33 phase:str conditions:[PodCondition]@type message:str reason:str nominatedNodeName:str hostIP:str hostIPs:[HostIP]@ip podIP:str podIPs:[PodIP]@ip startTime:time* initContainerStatuses:[ContainerStatus] containerStatuses:[ContainerStatus] qosClass:str ephemeralContainerStatuses:[ContainerStatus] resize:str resourceClaimStatuses:[PodResourceClaimStatus]@name extendedResourceClaimStatus:any>1.34 allocatedResources:{quantity}>1.35 resources:ResourceRequirements*>1.35
HostIP = ip:str!
PodIP = ip:str!
PodCondition = type:str! observedGeneration:int>1.33 status:str! lastProbeTime:time lastTransitionTime:time reason:str message:str
PodResourceClaimStatus = name:str! resourceClaimName:str*
ContainerStatus = name:str! state:ContainerState lastState:ContainerState ready:bool! restartCount:int32! image:str! imageID:str! containerID:str started:bool* allocatedResources:{quantity} resources:ResourceRequirements* volumeMounts:[VolumeMountStatus]@mountPath user:any allocatedResourcesStatus:[any]@name stopSignal:str*>1.33
VolumeMountStatus = name:str! mountPath:str! readOnly:bool recursiveReadOnly:str*
ContainerState = waiting:ContainerStateWaiting* running:ContainerStateRunning* terminated:ContainerStateTerminated*
ContainerStateWaiting = reason:str message:str
ContainerStateRunning = startedAt:time
ContainerStateTerminated = exitCode:int32! signal:int32 reason:str message:str startedAt:time finishedAt:time containerID:str

PodTemplateSpec = metadata:ObjectMeta spec:PodSpec
DaemonSet = kind:str apiVersion:str metadata:ObjectMeta spec:DaemonSetSpec status:DaemonSetStatus
DaemonSetSpec = selector:LabelSelector* template:PodTemplateSpec updateStrategy:DaemonSetUpdateStrategy minReadySeconds:int32 revisionHistoryLimit:int32*
DaemonSetUpdateStrategy = type:str rollingUpdate:any
DaemonSetStatus = currentNumberScheduled:int32! numberMisscheduled:int32! desiredNumberScheduled:int32! numberReady:int32! observedGeneration:int updatedNumberScheduled:int32 numberAvailable:int32 numberUnavailable:int32 collisionCount:int32* conditions:[WorkloadCondition]@type
WorkloadCondition = type:str! status:str! lastUpdateTime:time* lastTransitionTime:time reason:str message:str
Deployment = kind:str apiVersion:str metadata:ObjectMeta spec:DeploymentSpec status:DeploymentStatus
DeploymentSpec = replicas:int32* selector:LabelSelector* template:PodTemplateSpec strategy:DeploymentStrategy minReadySeconds:int32 revisionHistoryLimit:int32* paused:bool progressDeadlineSeconds:int32*
DeploymentStrategy = type:str rollingUpdate:any
DeploymentStatus = observedGeneration:int replicas:int32 updatedReplicas:int32 readyReplicas:int32 availableReplicas:int32 unavailableReplicas:int32 terminatingReplicas:int32* conditions:[WorkloadCondition]@type collisionCount:int32*
ReplicaSet = kind:str apiVersion:str metadata:ObjectMeta spec:ReplicaSetSpec status:ReplicaSetStatus
ReplicaSetSpec = replicas:int32* minReadySeconds:int32 selector:LabelSelector* template:PodTemplateSpec
ReplicaSetStatus = replicas:int32! fullyLabeledReplicas:int32 readyReplicas:int32 availableReplicas:int32 terminatingReplicas:int32* observedGeneration:int conditions:[WorkloadCondition]@type
StatefulSet = kind:str apiVersion:str metadata:ObjectMeta spec:StatefulSetSpec status:StatefulSetStatus
StatefulSetSpec = replicas:int32* selector:LabelSelector* template:PodTemplateSpec volumeClaimTemplates:[any] serviceName:str podManagementPolicy:str updateStrategy:any revisionHistoryLimit:int32* minReadySeconds:int32 persistentVolumeClaimRetentionPolicy:any ordinals:any
StatefulSetStatus = observedGeneration:int replicas:int32! readyReplicas:int32 currentReplicas:int32 updatedReplicas:int32 currentRevision:str updateRevision:str collisionCount:int32* conditions:[WorkloadCondition]@type availableReplicas:int32!
Job = kind:str apiVersion:str metadata:ObjectMeta spec:any status:JobStatus
JobStatus = conditions:[any]@type startTime:time* completionTime:time* active:int32 succeeded:int32 terminating:int32* failed:int32 completedIndexes:str failedIndexes:str* uncountedTerminatedPods:any ready:int32*
ConfigMap = kind:str apiVersion:str metadata:ObjectMeta immutable:bool* data:{str} binaryData:{str}
ServiceAccount = kind:str apiVersion:str metadata:ObjectMeta secrets:[any]@name imagePullSecrets:[LocalObjectReference]@name automountServiceAccountToken:bool*
";
