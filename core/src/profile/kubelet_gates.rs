//! The feature gates that a kubelet knows and of which nothing is modelled: it takes them, and its checks ask for some.
//!
//! Source: `kubelet --help` (v1.34.4). They stand for all releases: which of them an older kubelet lacks is not known
//! here. Input: a name. Output: the gate with its default.

/// Gates that are on by default.
const ON: &str = "APIResponseCompression APIServerIdentity AllowParsingUserUIDFromCertAuth CPUManagerPolicyBetaOptions \
    ContainerCheckpoint ContextualLogging DRAAdminAccess DRAPrioritizedList DRAResourceClaimDeviceStatus \
    DRASchedulerFilterTimeout DeclarativeValidation DetectCacheInconsistency DisableCPUQuotaWithExclusiveCPUs \
    ExternalServiceAccountTokenSigner GracefulNodeShutdown GracefulNodeShutdownBasedOnPodPriority ImageMaximumGCAge \
    InOrderInformers InPlacePodVerticalScaling JobManagedBy KubeletFineGrainedAuthz KubeletPSI \
    KubeletPodResourcesDynamicResources KubeletPodResourcesGet KubeletSeparateDiskGC \
    KubeletServiceAccountTokenForCredentialProviders ListFromCacheSnapshot LoggingBetaOptions \
    MatchLabelKeysInPodTopologySpread MatchLabelKeysInPodTopologySpreadSelectorMerge OpenAPIEnums PodDeletionCost \
    PodLevelResources PodObservedGenerationTracking PodReadyToStartContainersCondition PortForwardWebsockets \
    PreferSameTrafficDistribution PreventStaticPodAPIReferences ProcMountType ReloadKubeletServerCertificateFile \
    RemoteRequestHeaderUID RotateKubeletServerCertificate SELinuxChangePolicy SELinuxMountReadWriteOncePod \
    SchedulerAsyncPreemption SchedulerPopFromBackoffQ ServiceAccountNodeAudienceRestriction \
    SizeBasedListCostEstimate StatefulSetSemanticRevisionComparison StorageVersionHash \
    StructuredAuthenticationConfigurationEgressSelector SupplementalGroupsPolicy SystemdWatchdog \
    TokenRequestServiceAccountUIDValidation TopologyManagerPolicyBetaOptions TranslateStreamCloseWebsocketRequests \
    UnauthenticatedHTTP2DOSMitigation UserNamespacesSupport WatchList WindowsGracefulNodeShutdown";
/// Gates that are off by default; the first two are groups.
const OFF: &str = "APIServingWithRoutine AllAlpha AllBeta AllowUnsafeMalformedObjectDeletion CBORServingAndStorage \
    CPUManagerPolicyAlphaOptions CSIVolumeHealth ClearingNominatedNodeNameAfterBinding ClientsAllowCBOR \
    ClientsPreferCBOR CloudControllerManagerWebhook ClusterTrustBundle ClusterTrustBundleProjection ComponentFlagz \
    ComponentStatusz ConcurrentWatchObjectDecode ContainerRestartRules ContainerStopSignals \
    CoordinatedLeaderElection CrossNamespaceVolumeDataSource CustomCPUCFSQuotaPeriod DRAConsumableCapacity \
    DRADeviceBindingConditions DRADeviceTaints DRAExtendedResource DRAPartitionableDevices \
    DeclarativeValidationTakeover DeploymentReplicaSetTerminatingReplicas EnvFiles EventedPLEG \
    HPAConfigurableTolerance HPAScaleToZero HostnameOverride ImageVolume InPlacePodVerticalScalingExclusiveCPUs \
    InPlacePodVerticalScalingExclusiveMemory InTreePluginPortworxUnregister InformerResourceVersion \
    KubeletCrashLoopBackOffMax KubeletEnsureSecretPulledImages KubeletInUserNamespace \
    LocalStorageCapacityIsolationFSQuotaMonitoring LoggingAlphaOptions MaxUnavailableStatefulSet MemoryQoS \
    MutableCSINodeAllocatableCount MutatingAdmissionPolicy NodeLogQuery NominatedNodeNameForExpectation \
    PodAndContainerStatsFromCRI PodCertificateRequest PodLogsQuerySplitStreams PodTopologyLabelsAdmission \
    QOSReserved ReduceDefaultCrashLoopBackOffDecay RelaxedServiceNameValidation ResourceHealthStatus \
    RuntimeClassInImageCriApi SELinuxMount SchedulerAsyncAPICalls StorageCapacityScoring StorageVersionAPI \
    StorageVersionMigrator StrictIPCIDRValidation TopologyManagerPolicyAlphaOptions \
    UnknownVersionInteroperabilityProxy UserNamespacesPodSecurityStandards WatchCacheInitializationPostStartHook \
    WatchListClient WindowsCPUAndMemoryAffinity";

/// Finds a gate of a kubelet, with its default.
pub(super) fn find(name: &str) -> Option<(&'static str, bool)> {
    let of = |list: &'static str, on| list.split(' ').find(|own| *own == name).map(|own| (own, on));
    of(ON, true).or_else(|| of(OFF, false))
}
