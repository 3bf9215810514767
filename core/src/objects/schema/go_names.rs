//! The names of Go types behind fields that are written as texts, lists or maps: a body of another type is refused with
//! them.
//!
//! Source: k8s.io/api {core,coordination,storage,policy,apps,batch,certificates,scheduling,discovery}/v1 types.go and
//! k8s.io/apimachinery meta/v1 types.go (v1.34). One struct per line, with `field=type` for each such field.

const NAMES: &str = "\
AppArmorProfile type=v1.AppArmorProfileType\n\
AttachedVolume name=v1.UniqueVolumeName\n\
AzureDiskVolumeSource cachingMode=v1.AzureDataDiskCachingMode kind=v1.AzureDataDiskKind\n\
CSIDriverSpec volumeLifecycleModes=[]v1.VolumeLifecycleMode fsGroupPolicy=v1.FSGroupPolicy\n\
Capabilities add=[]v1.Capability drop=[]v1.Capability\n\
CertificateSigningRequestCondition type=v1.RequestConditionType status=v1.ConditionStatus\n\
CertificateSigningRequestSpec usages=[]v1.KeyUsage\n\
Condition status=v1.ConditionStatus\n\
ConfigMapNodeConfigSource uid=types.UID\n\
Container restartPolicy=v1.ContainerRestartPolicy terminationMessagePolicy=v1.TerminationMessagePolicy \
    imagePullPolicy=v1.PullPolicy\n\
ContainerPort protocol=v1.Protocol\n\
ContainerResizePolicy resourceName=v1.ResourceName restartPolicy=v1.ResourceResizeRestartPolicy\n\
ContainerRestartRule action=v1.ContainerRestartRuleAction\n\
ContainerRestartRuleOnExitCodes operator=v1.ContainerRestartRuleOnExitCodesOperator\n\
ContainerStatus allocatedResources=v1.ResourceList stopSignal=v1.Signal\n\
CronJobSpec concurrencyPolicy=v1.ConcurrencyPolicy\n\
DaemonSetUpdateStrategy type=v1.DaemonSetUpdateStrategyType\n\
DeleteOptions propagationPolicy=v1.DeletionPropagation\n\
DeploymentCondition type=v1.DeploymentConditionType status=v1.ConditionStatus\n\
DeploymentStrategy type=v1.DeploymentStrategyType\n\
EmptyDirVolumeSource medium=v1.StorageMedium\n\
EndpointPort protocol=v1.Protocol\n\
EndpointSlice addressType=v1.AddressType\n\
HTTPGetAction scheme=v1.URIScheme\n\
HostPathVolumeSource type=v1.HostPathType\n\
ImageVolumeSource pullPolicy=v1.PullPolicy\n\
JobCondition type=v1.JobConditionType\n\
JobSpec completionMode=v1.CompletionMode podReplacementPolicy=v1.PodReplacementPolicy\n\
LabelSelectorRequirement operator=v1.LabelSelectorOperator\n\
LeaseSpec strategy=v1.CoordinatedLeaseStrategy\n\
Lifecycle stopSignal=v1.Signal\n\
LimitRangeItem type=v1.LimitType max=v1.ResourceList min=v1.ResourceList default=v1.ResourceList \
    defaultRequest=v1.ResourceList maxLimitRequestRatio=v1.ResourceList\n\
LoadBalancerIngress ipMode=v1.LoadBalancerIPMode\n\
ManagedFieldsEntry operation=v1.ManagedFieldsOperationType\n\
ModifyVolumeStatus status=v1.PersistentVolumeClaimModifyVolumeStatus\n\
NamespaceCondition type=v1.NamespaceConditionType status=v1.ConditionStatus\n\
NamespaceSpec finalizers=[]v1.FinalizerName\n\
NamespaceStatus phase=v1.NamespacePhase\n\
NodeAddress type=v1.NodeAddressType\n\
NodeCondition type=v1.NodeConditionType status=v1.ConditionStatus\n\
NodeSelectorRequirement operator=v1.NodeSelectorOperator\n\
NodeStatus capacity=v1.ResourceList allocatable=v1.ResourceList phase=v1.NodePhase \
    volumesInUse=[]v1.UniqueVolumeName\n\
ObjectMeta uid=types.UID\n\
ObjectReference uid=types.UID\n\
OwnerReference uid=types.UID\n\
PersistentVolumeClaimCondition type=v1.PersistentVolumeClaimConditionType status=v1.ConditionStatus\n\
PersistentVolumeClaimSpec accessModes=[]v1.PersistentVolumeAccessMode volumeMode=v1.PersistentVolumeMode\n\
PersistentVolumeClaimStatus phase=v1.PersistentVolumeClaimPhase accessModes=[]v1.PersistentVolumeAccessMode \
    capacity=v1.ResourceList allocatedResources=v1.ResourceList\n\
PersistentVolumeSpec capacity=v1.ResourceList accessModes=[]v1.PersistentVolumeAccessMode \
    persistentVolumeReclaimPolicy=v1.PersistentVolumeReclaimPolicy volumeMode=v1.PersistentVolumeMode\n\
PersistentVolumeStatus phase=v1.PersistentVolumePhase\n\
PodCondition type=v1.PodConditionType status=v1.ConditionStatus\n\
PodDisruptionBudgetSpec unhealthyPodEvictionPolicy=v1.UnhealthyPodEvictionPolicyType\n\
PodFailurePolicyOnExitCodesRequirement operator=v1.PodFailurePolicyOnExitCodesOperator\n\
PodFailurePolicyRule action=v1.PodFailurePolicyAction\n\
PodOS name=v1.OSName\n\
PodReadinessGate conditionType=v1.PodConditionType\n\
PodSecurityContext supplementalGroupsPolicy=v1.SupplementalGroupsPolicy \
    fsGroupChangePolicy=v1.PodFSGroupChangePolicy seLinuxChangePolicy=v1.PodSELinuxChangePolicy\n\
PodSpec restartPolicy=v1.RestartPolicy dnsPolicy=v1.DNSPolicy preemptionPolicy=v1.PreemptionPolicy \
    overhead=v1.ResourceList\n\
PodStatus phase=v1.PodPhase qosClass=v1.PodQOSClass resize=v1.PodResizeStatus\n\
PortStatus protocol=v1.Protocol\n\
Preconditions uid=types.UID\n\
PriorityClass preemptionPolicy=v1.PreemptionPolicy\n\
ResourceHealth resourceID=v1.ResourceID health=v1.ResourceHealthStatus\n\
ResourceQuotaSpec hard=v1.ResourceList scopes=[]v1.ResourceQuotaScope\n\
ResourceQuotaStatus hard=v1.ResourceList used=v1.ResourceList\n\
ResourceRequirements limits=v1.ResourceList requests=v1.ResourceList\n\
ResourceStatus name=v1.ResourceName\n\
ScopedResourceSelectorRequirement scopeName=v1.ResourceQuotaScope operator=v1.ScopeSelectorOperator\n\
SeccompProfile type=v1.SeccompProfileType\n\
Secret type=v1.SecretType\n\
SecurityContext procMount=v1.ProcMountType\n\
ServicePort protocol=v1.Protocol\n\
ServiceSpec type=v1.ServiceType sessionAffinity=v1.ServiceAffinity \
    externalTrafficPolicy=v1.ServiceExternalTrafficPolicy ipFamilies=[]v1.IPFamily \
    ipFamilyPolicy=v1.IPFamilyPolicy internalTrafficPolicy=v1.ServiceInternalTrafficPolicy\n\
StatefulSetPersistentVolumeClaimRetentionPolicy whenDeleted=v1.PersistentVolumeClaimRetentionPolicyType \
    whenScaled=v1.PersistentVolumeClaimRetentionPolicyType\n\
StatefulSetSpec podManagementPolicy=v1.PodManagementPolicyType\n\
StatefulSetUpdateStrategy type=v1.StatefulSetUpdateStrategyType\n\
StorageClass reclaimPolicy=v1.PersistentVolumeReclaimPolicy volumeBindingMode=v1.VolumeBindingMode\n\
Taint effect=v1.TaintEffect\n\
Toleration operator=v1.TolerationOperator effect=v1.TaintEffect\n\
TopologySpreadConstraint whenUnsatisfiable=v1.UnsatisfiableConstraintAction \
    nodeAffinityPolicy=v1.NodeInclusionPolicy nodeTaintsPolicy=v1.NodeInclusionPolicy\n\
UncountedTerminatedPods succeeded=[]types.UID failed=[]types.UID\n\
VolumeMount recursiveReadOnly=v1.RecursiveReadOnlyMode mountPropagation=v1.MountPropagationMode\n\
VolumeMountStatus recursiveReadOnly=v1.RecursiveReadOnlyMode\n\
VolumeResourceRequirements limits=v1.ResourceList requests=v1.ResourceList\n\
";

/// Returns the kind of a Go type that has a name of its own; `None` for any other type.
#[must_use]
pub fn named_kind(name: &str) -> Option<&'static str> {
    let mut entries = NAMES.lines().flat_map(|line| line.split(' ').skip(1)).filter_map(|entry| entry.split_once('='));
    match name {
        "v1.ResourceList" => Some("map"),
        _ => entries.any(|(_, kind)| kind.trim_start_matches("[]") == name).then_some("string"),
    }
}

/// Returns the Go type of a struct's field, if it has a name of its own.
pub(super) fn go_name(of: &str, field: &str) -> Option<&'static str> {
    let fields = NAMES.lines().filter_map(|line| line.split_once(' ')).find(|(name, _)| *name == of)?.1;
    fields.split(' ').filter_map(|entry| entry.split_once('=')).find(|(name, _)| *name == field).map(|(_, kind)| kind)
}
