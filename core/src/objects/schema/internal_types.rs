//! The fields of the server's own structures, in the order and under the names that its messages print.
//!
//! Source: pkg/apis/{core,batch,storage,policy,certificates,rbac,apps}/types.go (v1.34; v1.35 and v1.36 for what came
//! later). Made by a script from the Go files; embedded structures are written out. One structure per line:
//! `Name = Field …`, or `Name:Type = …` if its fields are those of another type of the schema. A field stands for the
//! one of the schema that has the same letters, or the one behind `=`, and is printed if the release's schema has it;
//! `!` says that it is no pointer although the schema's is one, `:type` what it holds if the schema puts it elsewhere.
//! `+metadata` stands for the fields of the metadata. A type that is not named here is printed as clients see it.

pub(super) const INTERNAL: &str = "\
PodSpec = Volumes InitContainers Containers EphemeralContainers RestartPolicy TerminationGracePeriodSeconds \
    ActiveDeadlineSeconds DNSPolicy NodeSelector ServiceAccountName AutomountServiceAccountToken NodeName \
    SecurityContext ImagePullSecrets Hostname Subdomain SetHostnameAsFQDN Affinity SchedulerName Tolerations \
    HostAliases PriorityClassName Priority PreemptionPolicy DNSConfig ReadinessGates RuntimeClassName Overhead \
    EnableServiceLinks TopologySpreadConstraints OS SchedulingGates ResourceClaims Resources HostnameOverride \
    WorkloadRef SchedulingGroup\n\
PersistentVolumeSource:PersistentVolumeSpec = GCEPersistentDisk AWSElasticBlockStore HostPath Glusterfs NFS RBD \
    Quobyte ISCSI FlexVolume Cinder CephFS FC Flocker AzureFile VsphereVolume AzureDisk PhotonPersistentDisk \
    PortworxVolume ScaleIO Local StorageOS CSI\n\
PersistentVolumeSpec = Capacity GCEPersistentDisk AWSElasticBlockStore HostPath Glusterfs NFS RBD Quobyte ISCSI \
    FlexVolume Cinder CephFS FC Flocker AzureFile VsphereVolume AzureDisk PhotonPersistentDisk PortworxVolume \
    ScaleIO Local StorageOS CSI AccessModes ClaimRef PersistentVolumeReclaimPolicy StorageClassName MountOptions \
    VolumeMode NodeAffinity VolumeAttributesClassName\n\
PersistentVolumeClaimSpec = AccessModes Selector Resources VolumeName StorageClassName VolumeMode DataSource \
    DataSourceRef VolumeAttributesClassName\n\
PodTemplateSpec = +metadata Spec\n\
PodFailurePolicy = Rules\n\
SuccessPolicy = Rules\n\
VolumeAttachmentSpec = Attacher Source NodeName\n\
CSINodeDriver = Name NodeID TopologyKeys Allocatable\n\
PodDisruptionBudgetSpec = MinAvailable Selector MaxUnavailable UnhealthyPodEvictionPolicy\n\
VolumeNodeAffinity = Required\n\
CertificateSigningRequestCondition = Type Status Reason Message LastUpdateTime LastTransitionTime\n\
RoleRef = APIGroup Kind Name\n\
TopologySelectorTerm = MatchLabelExpressions\n\
PolicyRule = Verbs APIGroups Resources ResourceNames NonResourceURLs\n\
Subject = Kind APIGroup Name Namespace\n\
StatefulSetUpdateStrategy = Type RollingUpdate\n\
DeploymentStrategy = Type RollingUpdate\n\
DaemonSetUpdateStrategy = Type RollingUpdate\n\
HostIP = IP\n\
PodIP = IP\n\
ResourceQuotaSpec = Hard Scopes ScopeSelector\n\
Volume = Name HostPath EmptyDir GCEPersistentDisk AWSElasticBlockStore GitRepo Secret NFS ISCSI Glusterfs \
    PersistentVolumeClaim RBD Quobyte FlexVolume Cinder CephFS Flocker DownwardAPI FC AzureFile ConfigMap \
    VsphereVolume AzureDisk PhotonPersistentDisk Projected PortworxVolume ScaleIO StorageOS CSI Ephemeral Image\n\
Container = Name Image Command Args WorkingDir Ports EnvFrom Env Resources ResizePolicy RestartPolicy \
    RestartPolicyRules VolumeMounts VolumeDevices LivenessProbe ReadinessProbe StartupProbe Lifecycle \
    TerminationMessagePath TerminationMessagePolicy ImagePullPolicy SecurityContext Stdin StdinOnce TTY\n\
EphemeralContainer = Name Image Command Args WorkingDir Ports EnvFrom Env Resources ResizePolicy RestartPolicy \
    RestartPolicyRules VolumeMounts VolumeDevices LivenessProbe ReadinessProbe StartupProbe Lifecycle \
    TerminationMessagePath TerminationMessagePolicy ImagePullPolicy SecurityContext Stdin StdinOnce TTY \
    TargetContainerName\n\
PodSecurityContext = HostNetwork:bool HostPID:bool HostIPC:bool ShareProcessNamespace:bool* HostUsers:bool* \
    SELinuxOptions WindowsOptions RunAsUser RunAsGroup RunAsNonRoot SupplementalGroups SupplementalGroupsPolicy \
    FSGroup FSGroupChangePolicy Sysctls SeccompProfile AppArmorProfile SELinuxChangePolicy\n\
LocalObjectReference = Name\n\
Affinity = NodeAffinity PodAffinity PodAntiAffinity\n\
Toleration = Key Operator Value Effect TolerationSeconds\n\
HostAlias = IP Hostnames\n\
PodDNSConfig = Nameservers Searches Options\n\
PodReadinessGate = ConditionType\n\
TopologySpreadConstraint = MaxSkew TopologyKey WhenUnsatisfiable LabelSelector MinDomains NodeAffinityPolicy \
    NodeTaintsPolicy MatchLabelKeys\n\
PodOS = Name\n\
PodSchedulingGate = Name\n\
PodResourceClaim = Name ResourceClaimName ResourceClaimTemplateName\n\
ResourceRequirements = Limits Requests Claims\n\
GCEPersistentDiskVolumeSource = PDName FSType Partition ReadOnly\n\
AWSElasticBlockStoreVolumeSource = VolumeID FSType Partition ReadOnly\n\
HostPathVolumeSource = Path Type\n\
GlusterfsPersistentVolumeSource = EndpointsName=endpoints Path ReadOnly EndpointsNamespace\n\
NFSVolumeSource = Server Path ReadOnly\n\
RBDPersistentVolumeSource = CephMonitors=monitors RBDImage=image FSType RBDPool=pool RadosUser=user Keyring \
    SecretRef ReadOnly\n\
QuobyteVolumeSource = Registry Volume ReadOnly User Group Tenant\n\
ISCSIPersistentVolumeSource = TargetPortal IQN Lun ISCSIInterface FSType ReadOnly Portals \
    DiscoveryCHAPAuth=chapAuthDiscovery SessionCHAPAuth=chapAuthSession SecretRef InitiatorName\n\
FlexPersistentVolumeSource = Driver FSType SecretRef ReadOnly Options\n\
CinderPersistentVolumeSource = VolumeID FSType ReadOnly SecretRef\n\
CephFSPersistentVolumeSource = Monitors Path User SecretFile SecretRef ReadOnly\n\
FCVolumeSource = TargetWWNs Lun FSType ReadOnly WWIDs\n\
FlockerVolumeSource = DatasetName DatasetUUID\n\
AzureFilePersistentVolumeSource = SecretName ShareName ReadOnly SecretNamespace\n\
VsphereVirtualDiskVolumeSource = VolumePath FSType StoragePolicyName StoragePolicyID\n\
AzureDiskVolumeSource = DiskName DataDiskURI=diskURI CachingMode FSType ReadOnly Kind\n\
PhotonPersistentDiskVolumeSource = PdID FSType\n\
PortworxVolumeSource = VolumeID FSType ReadOnly\n\
ScaleIOPersistentVolumeSource = Gateway System SecretRef SSLEnabled ProtectionDomain StoragePool StorageMode \
    VolumeName FSType ReadOnly\n\
LocalVolumeSource = Path FSType\n\
StorageOSPersistentVolumeSource = VolumeName VolumeNamespace FSType ReadOnly SecretRef\n\
CSIPersistentVolumeSource = Driver VolumeHandle ReadOnly FSType VolumeAttributes ControllerPublishSecretRef \
    NodeStageSecretRef NodePublishSecretRef ControllerExpandSecretRef NodeExpandSecretRef\n\
ObjectReference = Kind Namespace Name UID APIVersion ResourceVersion FieldPath\n\
VolumeResourceRequirements = Limits Requests\n\
TypedLocalObjectReference = APIGroup Kind Name\n\
TypedObjectReference = APIGroup Kind Name Namespace\n\
PodFailurePolicyRule = Action OnExitCodes OnPodConditions\n\
SuccessPolicyRule = SucceededIndexes SucceededCount\n\
VolumeAttachmentSource = PersistentVolumeName InlineVolumeSpec\n\
VolumeNodeResources = Count\n\
NodeSelector = NodeSelectorTerms\n\
TopologySelectorLabelRequirement = Key Values\n\
RollingUpdateStatefulSetStrategy = Partition! MaxUnavailable\n\
RollingUpdateDeployment = MaxUnavailable! MaxSurge!\n\
RollingUpdateDaemonSet = MaxUnavailable! MaxSurge!\n\
ScopeSelector = MatchExpressions\n\
EmptyDirVolumeSource = Medium SizeLimit\n\
GitRepoVolumeSource = Repository Revision Directory\n\
SecretVolumeSource = SecretName Items DefaultMode Optional\n\
ISCSIVolumeSource = TargetPortal IQN Lun ISCSIInterface FSType ReadOnly Portals \
    DiscoveryCHAPAuth=chapAuthDiscovery SessionCHAPAuth=chapAuthSession SecretRef InitiatorName\n\
GlusterfsVolumeSource = EndpointsName=endpoints Path ReadOnly\n\
PersistentVolumeClaimVolumeSource = ClaimName ReadOnly\n\
RBDVolumeSource = CephMonitors=monitors RBDImage=image FSType RBDPool=pool RadosUser=user Keyring SecretRef \
    ReadOnly\n\
FlexVolumeSource = Driver FSType SecretRef ReadOnly Options\n\
CinderVolumeSource = VolumeID FSType ReadOnly SecretRef\n\
CephFSVolumeSource = Monitors Path User SecretFile SecretRef ReadOnly\n\
DownwardAPIVolumeSource = Items DefaultMode\n\
AzureFileVolumeSource = SecretName ShareName ReadOnly\n\
ConfigMapVolumeSource = Name Items DefaultMode Optional\n\
ProjectedVolumeSource = Sources DefaultMode\n\
ScaleIOVolumeSource = Gateway System SecretRef SSLEnabled ProtectionDomain StoragePool StorageMode VolumeName \
    FSType ReadOnly\n\
StorageOSVolumeSource = VolumeName VolumeNamespace FSType ReadOnly SecretRef\n\
CSIVolumeSource = Driver ReadOnly FSType VolumeAttributes NodePublishSecretRef\n\
EphemeralVolumeSource = VolumeClaimTemplate\n\
ImageVolumeSource = Reference PullPolicy\n\
ContainerPort = Name HostPort ContainerPort Protocol HostIP\n\
EnvFromSource = Prefix ConfigMapRef SecretRef\n\
EnvVar = Name Value ValueFrom\n\
ContainerResizePolicy = ResourceName RestartPolicy\n\
ContainerRestartRule = Action ExitCodes\n\
VolumeMount = Name ReadOnly RecursiveReadOnly MountPath SubPath MountPropagation SubPathExpr\n\
VolumeDevice = Name DevicePath\n\
Probe = Exec HTTPGet TCPSocket GRPC InitialDelaySeconds TimeoutSeconds PeriodSeconds SuccessThreshold \
    FailureThreshold TerminationGracePeriodSeconds\n\
Lifecycle = PostStart PreStop StopSignal\n\
SecurityContext = Capabilities Privileged SELinuxOptions WindowsOptions RunAsUser RunAsGroup RunAsNonRoot \
    ReadOnlyRootFilesystem AllowPrivilegeEscalation ProcMount SeccompProfile AppArmorProfile\n\
SELinuxOptions = User Role Type Level\n\
WindowsSecurityContextOptions = GMSACredentialSpecName GMSACredentialSpec RunAsUserName HostProcess\n\
Sysctl = Name Value\n\
SeccompProfile = Type LocalhostProfile\n\
AppArmorProfile = Type LocalhostProfile\n\
NodeAffinity = RequiredDuringSchedulingIgnoredDuringExecution PreferredDuringSchedulingIgnoredDuringExecution\n\
PodAffinity = RequiredDuringSchedulingIgnoredDuringExecution PreferredDuringSchedulingIgnoredDuringExecution\n\
PodDNSConfigOption = Name Value\n\
ResourceClaim = Name Request\n\
SecretReference = Name Namespace\n\
PodFailurePolicyOnExitCodesRequirement = ContainerName Operator Values\n\
PodFailurePolicyOnPodConditionsPattern = Type Status\n\
NodeSelectorTerm = MatchExpressions MatchFields\n\
ScopedResourceSelectorRequirement = ScopeName Operator Values\n\
KeyToPath = Key Path Mode\n\
DownwardAPIVolumeFile = Path FieldRef ResourceFieldRef Mode\n\
VolumeProjection = Secret DownwardAPI ConfigMap ServiceAccountToken ClusterTrustBundle PodCertificate\n\
PersistentVolumeClaimTemplate = +metadata Spec\n\
ConfigMapEnvSource = Name Optional\n\
SecretEnvSource = Name Optional\n\
EnvVarSource = FieldRef ResourceFieldRef ConfigMapKeyRef SecretKeyRef FileKeyRef\n\
ContainerRestartRuleOnExitCodes = Operator Values\n\
ExecAction = Command\n\
HTTPGetAction = Path Port Host Scheme HTTPHeaders\n\
TCPSocketAction = Port Host\n\
GRPCAction = Port Service\n\
LifecycleHandler = Exec HTTPGet TCPSocket Sleep\n\
Capabilities = Add Drop\n\
PreferredSchedulingTerm = Weight Preference\n\
PodAffinityTerm = LabelSelector Namespaces TopologyKey NamespaceSelector MatchLabelKeys MismatchLabelKeys\n\
WeightedPodAffinityTerm = Weight PodAffinityTerm\n\
NodeSelectorRequirement = Key Operator Values\n\
ObjectFieldSelector = APIVersion FieldPath\n\
ResourceFieldSelector = ContainerName Resource Divisor\n\
SecretProjection = Name Items Optional\n\
DownwardAPIProjection = Items\n\
ConfigMapProjection = Name Items Optional\n\
ServiceAccountTokenProjection = Audience ExpirationSeconds! Path\n\
ClusterTrustBundleProjection = Name SignerName LabelSelector Optional Path\n\
PodCertificateProjection = SignerName KeyType MaxExpirationSeconds CredentialBundlePath KeyPath \
    CertificateChainPath\n\
ConfigMapKeySelector = Name Key Optional\n\
SecretKeySelector = Name Key Optional\n\
FileKeySelector = VolumeName Path Key Optional\n\
HTTPHeader = Name Value\n\
SleepAction = Seconds\n\
";
