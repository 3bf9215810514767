//! The feature gates of a kubelet, release by release: it takes each of them, and its checks ask for some.
//!
//! Source: pkg/features/kube_features.go with k8s.io/{apiserver,client-go,component-base} (v1.31 to v1.37). A gate
//! whose stages stand in the files of the releases has those. Inputs: a name, a release. Outputs: the stage of the
//! gate, and which other gates it needs.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use once_cell::race::OnceBox;

use super::{GateStage, Release, gates};

/// The first release of the table; older ones are taken for it.
const FIRST: u16 = 31;
/// From when on a gate is refused while one that it needs is off.
const NEEDS_SINCE: Release = Release::new(35, 0);

/// Gates by their stages in 1.31, 1.32 and so on: alpha, beta, deprecated and general availability, a capital letter
/// for one that is on, `L` and `l` for one that is locked to on and to off, and a dash where there is no such gate.
const STAGES: &[(&str, &str)] = &[
    (
        "------B",
        "DRAFractionalCapacityRange EtcdRangeStream ExcludeAdmissionWebhookVirtualResources HPAGeneration \
            HPAOptimizedSelectorStore HugepageAwareEviction NFTablesNetlink \
            NodeControllerLeaseCircuitBreaker PodLevelResourcesFixDefaulting \
            PodLevelResourcesFixKubeletQOSClass StaleControllerConsistencyHPA WatchListCompression \
            WebhookRoundTripLoadBalancing",
    ),
    ("------D", "KubeProxyIPVS"),
    (
        "------a",
        "APIServerWebhookAuthenticationToken AtomicWriteVolumeUserFields CompositePodGroup \
            ConsistentListFromCacheSkipTimeoutFallback DRADerivedAttributes DRADeviceCompatibilityGroups \
            DRAOptionalNodeOperations DRAPartitionableDevicesType DefaultPodSysctls EmptyDirVolumeMode \
            EvictionRequestAPI GRPCContainerProbeTLS H2CContainerProbe \
            InPlacePodVerticalScalingMemoryBackedVolumes InPlacePodVerticalScalingSchedulerPreemption \
            InterPodAffinityHostnameFastPath KubeProxyNFTablesLocalhostNodePorts \
            KubeletAllocatedPodsEndpoint NodeLifecycleConditions PodGroupPreemptionPolicy \
            SchedulerPreQueueingHints StatefulSetRecreateStrategy VolumeBindMountOptions",
    ),
    (
        "-----BB",
        "AtomicFIFO ClientsAllowCARotation ClientsAllowTLSCacheGC \
            DRAResourceClaimGranularStatusAuthorization DeclarativeValidationBeta ExtendWebSocketsToKubelet \
            ReloadKubeletClientCAFile ResourceHealthStatusMessage StaleControllerConsistencyDaemonSet \
            StaleControllerConsistencyJob StaleControllerConsistencyReplicaSet \
            StaleControllerConsistencyStatefulSet UnlockWhileProcessingFIFO",
    ),
    ("-----BL", "InPlacePodVerticalScalingInitContainers PLEGOnDemandRelist"),
    ("-----DD", "ServiceCIDRStatusFieldWiping"),
    ("-----GG", "AllowServiceExternalIPs"),
    ("-----a-", "WorkloadAwarePreemption"),
    ("-----aB", "ManifestBasedAdmissionControlConfig NativeHistograms PersistentVolumeClaimUnusedSinceTime PodsAPI"),
    (
        "-----aa",
        "CRIListStreaming DRAListTypeAttributes DRANodeAllocatableResources DRAResourcePoolStatus \
            ImageVolumeWithDigest ShardedListAndWatch TopologyAwareWorkloadScheduling WorkloadWithJob",
    ),
    ("-----ab", "DRAWorkloadResourceClaims PodLevelResourceManagers"),
    (
        "----BBB",
        "AuthorizePodWebsocketUpgradeCreatePermission InOrderInformersBatchProcess OpportunisticBatching \
            StructuredAuthenticationConfigurationJWKSMetrics",
    ),
    ("----BLL", "CSIServiceAccountTokenSecrets"),
    (
        "----aBB",
        "ConstrainedImpersonation InPlacePodLevelResourcesVerticalScaling \
            MutablePodResourcesForSuspendedJobs MutableSchedulingDirectivesForSuspendedJobs \
            RestartAllContainersOnContainerExits",
    ),
    ("----aBL", "NodeDeclaredFeatures"),
    ("----aa-", "GangScheduling"),
    ("----aaB", "VolumeLimitScaling"),
    (
        "----aaa",
        "CloudControllerManagerWatchBasedRoutesReconciliation MutablePVNodeAffinity \
            TaintTolerationComparisonOperators UserNamespacesHostNetworkSupport",
    ),
    ("----aab", "GenericWorkload"),
    ("----abG", "DRADeviceTaintRules"),
    ("----bBB", "CRDObservedGenerationTracking"),
    ("----ddd", "ChangeContainerStatusOnKubeletRestart"),
    ("---BBB-", "PreventStaticPodAPIReferences"),
    (
        "---BBBB",
        "DRASchedulerFilterTimeout DetectCacheInconsistency \
            MatchLabelKeysInPodTopologySpreadSelectorMerge SizeBasedListCostEstimate \
            StatefulSetSemanticRevisionComparison StructuredAuthenticationConfigurationEgressSelector \
            TokenRequestServiceAccountUIDValidation",
    ),
    ("---DDDD", "KubeletPodResourcesListUseActivePods"),
    ("---L---", "ProbeHostPodSecurityStandards"),
    (
        "---aBBB",
        "ClearingNominatedNodeNameAfterBinding ContainerRestartRules EnvFiles \
            NominatedNodeNameForExpectation",
    ),
    ("---aBBL", "HostnameOverride"),
    ("---aaBB", "DRAConsumableCapacity DRADeviceBindingConditions"),
    ("---aaBL", "DRAExtendedResource RelaxedServiceNameValidation"),
    ("---aaaa", "InPlacePodVerticalScalingExclusiveMemory"),
    ("---abbG", "PodCertificateRequest"),
    ("---bBbb", "SchedulerAsyncAPICalls"),
    ("--BBBBB", "AllowParsingUserUIDFromCertAuth SchedulerPopFromBackoffQ"),
    ("--BBBDL", "DisableCPUQuotaWithExclusiveCPUs"),
    ("--BBBLL", "DeclarativeValidation InOrderInformers"),
    ("--BLLL-", "StreamingCollectionEncodingToJSON StreamingCollectionEncodingToProtobuf"),
    ("--DDLLL", "AggregatedDiscoveryRemoveBetaType"),
    ("--aBBBB", "KubeletServiceAccountTokenForCredentialProviders ListFromCacheSnapshot"),
    ("--aBBGL", "DRAPrioritizedList"),
    ("--aBBLL", "KubeletPSI"),
    ("--aBLLL", "PodObservedGenerationTracking PreferSameTrafficDistribution"),
    ("--aaBBB", "DeploymentReplicaSetTerminatingReplicas KubeletEnsureSecretPulledImages PodTopologyLabelsAdmission"),
    ("--aaBBL", "HPAConfigurableTolerance"),
    ("--aaaBB", "DRAPartitionableDevices StrictIPCIDRValidation"),
    ("--aaaBG", "DRADeviceTaints"),
    ("--aaaaB", "StorageCapacityScoring"),
    ("--aaaaa", "ContainerStopSignals ReduceDefaultCrashLoopBackOffDecay"),
    ("--abBLL", "MutableCSINodeAllocatableCount"),
    ("--bbbdl", "DeclarativeValidationTakeover"),
    ("--d----", "LegacySidecarContainers"),
    ("--dddll", "GitRepoVolumeDriver"),
    ("-BBBBBB", "ServiceAccountNodeAudienceRestriction"),
    ("-BBBLLL", "SystemdWatchdog"),
    ("-BLLLL-", "BtreeWatchCache"),
    ("-aBBBBB", "RemoteRequestHeaderUID SchedulerAsyncPreemption"),
    ("-aBBBBL", "DRAResourceClaimDeviceStatus"),
    ("-aBBBLL", "KubeletFineGrainedAuthz SELinuxChangePolicy"),
    ("-aBLLL-", "PodLifecycleSleepActionAllowZero RelaxedDNSSearchValidation"),
    ("-aaBBBB", "PodLevelResources WindowsGracefulNodeShutdown"),
    ("-aaBBLL", "DRAAdminAccess ExternalServiceAccountTokenSigner"),
    ("-aaaBBB", "KubeletCrashLoopBackOffMax"),
    ("-aaaaBB", "ComponentFlagz ComponentStatusz"),
    ("-aaaaaB", "AllowUnsafeMalformedObjectDeletion"),
    (
        "-aaaaaa",
        "CBORServingAndStorage ClientsAllowCBOR ClientsPreferCBOR InPlacePodVerticalScalingExclusiveCPUs \
            PodLogsQuerySplitStreams WindowsCPUAndMemoryAffinity",
    ),
    ("-addd--", "InPlacePodVerticalScalingAllocatedStatus"),
    ("-dddddd", "KubeletRegistrationGetOnExistsOnly"),
    ("-dddlll", "AllowOverwriteTerminationGracePeriodSeconds"),
    ("AAddddd", "WindowsHostNetwork"),
    (
        "BBBBBBB",
        "APIResponseCompression APIServerIdentity CPUManagerPolicyBetaOptions ContainerCheckpoint \
            ContextualLogging GracefulNodeShutdown GracefulNodeShutdownBasedOnPodPriority \
            KubeletSeparateDiskGC LoggingBetaOptions MatchLabelKeysInPodTopologySpread OpenAPIEnums \
            PodDeletionCost PortForwardWebsockets ReloadKubeletServerCertificateFile \
            RotateKubeletServerCertificate StorageVersionHash TopologyManagerPolicyBetaOptions \
            TranslateStreamCloseWebsocketRequests UnauthenticatedHTTP2DOSMitigation",
    ),
    ("BBBBBBL", "PodReadyToStartContainersCondition"),
    ("BBBBBLL", "SELinuxMountReadWriteOncePod"),
    ("BBBBLLL", "ImageMaximumGCAge"),
    (
        "BBBLLL-",
        "APIServerTracing ConsistentListFromCache JobPodReplacementPolicy PodLifecycleSleepAction \
            ResilientWatchCacheInitialization StructuredAuthenticationConfiguration",
    ),
    ("BBBLLLL", "KubeletCgroupDriverFromCRI KubeletTracing NodeSwap SeparateTaintEvictionController WinOverlay"),
    ("BBDDDDD", "StorageNamespaceIndex"),
    ("BBLLL--", "CSIMigrationPortworx HonorPVReclaimPolicy ServiceTrafficDistribution TopologyAwareHints"),
    ("BBLLLL-", "AnyVolumeDataSource JobBackoffLimitPerIndex JobSuccessPolicy SidecarContainers"),
    (
        "BBLLLLL",
        "CPUManagerPolicyOptions CRDValidationRatcheting MatchLabelKeysInPodAffinity NFTablesProxyMode \
            NodeInclusionPolicyInPodTopologySpread RecursiveReadOnlyMounts ServiceAccountTokenNodeBinding",
    ),
    ("BBdddll", "SeparateCacheWatchRPC"),
    ("BGGGGLL", "TopologyManagerPolicyOptions"),
    (
        "BLLL---",
        "CronJobsScheduledAnnotation LoadBalancerIPMode PodIndexLabel SizeMemoryBackedVolumes \
            StatefulSetAutoDeletePVC",
    ),
    ("BLLLL--", "MemoryManager StructuredAuthorizationConfiguration"),
    ("BLLLLL-", "RetryGenerateName"),
    (
        "BLLLLLL",
        "CustomResourceFieldSelectors ServiceAccountTokenJTI ServiceAccountTokenNodeBindingValidation \
            ServiceAccountTokenPodNodeInfo",
    ),
    ("GGGGLLL", "ExecProbeTimeout"),
    (
        "L------",
        "CloudDualStackNodeIPs HPAContainerMetrics KMSv2 KMSv2KDF LegacyServiceAccountTokenCleanUp \
            MinDomainsInPodTopologySpread NewVolumeManagerReconstruction NodeOutOfServiceVolumeDetach \
            PodHostIPs ServerSideApply ServerSideFieldValidation StableLoadBalancerNodeSet \
            ValidatingAdmissionPolicy ZeroLimitedNominalConcurrencyShares",
    ),
    (
        "LL-----",
        "APIListChunking AdmissionWebhookMatchConditions AggregatedDiscoveryEndpoint AppArmor \
            AppArmorFields CPUManager DisableCloudProviders DisableKubeletCloudCredentialProviders \
            EfficientWatchResumption JobPodFailurePolicy KubeProxyDrainingTerminatingNodes \
            PDBUnhealthyPodEvictionPolicy PersistentVolumeLastPhaseTransitionTime RemainingItemCount \
            WatchBookmark",
    ),
    ("LLL----", "DevicePluginCDIDevices ElasticIndexedJob PodDisruptionConditions StatefulSetStartOrdinal"),
    ("LLLLLL-", "LogarithmicScaleDown"),
    ("LLLLLLL", "PodSchedulingReadiness"),
    ("a------", "DRAControlPlaneController"),
    ("aBBBLLL", "JobManagedBy"),
    ("aBBLLL-", "AnonymousAuthConfigurableEndpoints AuthorizeNodeWithSelectors AuthorizeWithSelectors"),
    ("aBBLLLL", "RecoverVolumeExpansionFailure RelaxedEnvironmentVariableValidation"),
    ("aBbBBBB", "WatchList"),
    ("aa-----", "VolumeCapacityPriority"),
    ("aaBBLLL", "InPlacePodVerticalScaling SupplementalGroupsPolicy"),
    ("aaBLLLL", "WinDSR"),
    ("aaaBBLL", "KubeletPodResourcesDynamicResources KubeletPodResourcesGet"),
    ("aaaa---", "UserNamespacesPodSecurityStandards"),
    ("aaaaBbB", "MaxUnavailableStatefulSet"),
    ("aaaaGGG", "InformerResourceVersion"),
    ("aaaaa--", "InTreePluginPortworxUnregister"),
    ("aaaaaBB", "ResourceHealthStatus UnknownVersionInteroperabilityProxy"),
    ("aaaaaGG", "CustomCPUCFSQuotaPeriod"),
    ("aaaaaaB", "HPAScaleToZero KubeletInUserNamespace MemoryQoS"),
    (
        "aaaaaaa",
        "APIServingWithRoutine AllAlpha CPUManagerPolicyAlphaOptions CSIVolumeHealth \
            CloudControllerManagerWebhook CrossNamespaceVolumeDataSource EventedPLEG LoggingAlphaOptions \
            QOSReserved RuntimeClassInImageCriApi StorageVersionAPI TopologyManagerPolicyAlphaOptions",
    ),
    ("aaaaaab", "PodAndContainerStatsFromCRI"),
    ("aaaabbG", "StorageVersionMigrator"),
    ("aaabbGG", "MutatingAdmissionPolicy"),
    ("aabGLLL", "DisableAllocatorDualWrite"),
    ("aabbBLL", "ImageVolume"),
    ("aabbbbG", "ClusterTrustBundle ClusterTrustBundleProjection SELinuxMount"),
    ("aabbbbb", "CoordinatedLeaderElection"),
    ("abbGLLL", "DynamicResourceAllocation"),
    ("b-BLLL-", "OrderedNamespaceDeletion"),
    ("bBBLLL-", "SchedulerQueueingHints"),
    ("bLLL---", "StrictCostEnforcementForVAP StrictCostEnforcementForWebhooks"),
    ("bbBBBLL", "ProcMountType UserNamespacesSupport"),
    ("bbGLLLL", "MultiCIDRServiceAllocator"),
    ("bbbGGLL", "VolumeAttributesClass"),
    ("bbbbBBB", "WatchListClient"),
    ("bbbbbBL", "WatchCacheInitializationPostStartHook"),
    ("bbbbbLL", "NodeLogQuery"),
    ("bbbbbbB", "ConcurrentWatchObjectDecode"),
    ("bbbbbbb", "AllBeta LocalStorageCapacityIsolationFSQuotaMonitoring"),
    ("bblll--", "WatchFromStorageWithoutResourceVersion"),
    ("ddDDDLL", "DisableNodeKubeProxyVersion"),
    ("ddddddd", "AllowDNSOnlyNodeCSR AllowInsecureKubeletCertificateSigningRequests KMSv1"),
    ("dlll---", "AllowServiceLBStatusOnNonLB"),
];

/// Gates with those that they need, from 1.35 on. Source: as above (v1.35 to v1.37),
/// `defaultKubernetesFeatureGateDependencies`.
const NEEDS: &[(&str, &str)] = &[
    ("AuthorizeNodeWithSelectors", "AuthorizeWithSelectors"),
    ("ClusterTrustBundleProjection", "ClusterTrustBundle"),
    ("CompositePodGroup", "GenericWorkload TopologyAwareWorkloadScheduling"),
    ("DRAAdminAccess", "DynamicResourceAllocation"),
    ("DRAConsumableCapacity", "DynamicResourceAllocation"),
    ("DRADerivedAttributes", "DynamicResourceAllocation"),
    ("DRADeviceBindingConditions", "DRAResourceClaimDeviceStatus DynamicResourceAllocation"),
    ("DRADeviceCompatibilityGroups", "DRAPartitionableDevices DynamicResourceAllocation"),
    ("DRADeviceTaintRules", "DRADeviceTaints"),
    ("DRADeviceTaints", "DynamicResourceAllocation"),
    ("DRAExtendedResource", "DynamicResourceAllocation"),
    ("DRAFractionalCapacityRange", "DRAConsumableCapacity"),
    ("DRAListTypeAttributes", "DynamicResourceAllocation"),
    ("DRANodeAllocatableResources", "DynamicResourceAllocation"),
    ("DRAOptionalNodeOperations", "DynamicResourceAllocation NodeDeclaredFeatures"),
    ("DRAPartitionableDevices", "DynamicResourceAllocation"),
    ("DRAPartitionableDevicesType", "DRAPartitionableDevices DRAResourcePoolStatus DynamicResourceAllocation"),
    ("DRAPrioritizedList", "DynamicResourceAllocation"),
    ("DRAResourceClaimGranularStatusAuthorization", "DRAResourceClaimDeviceStatus DynamicResourceAllocation"),
    ("DRAResourcePoolStatus", "DynamicResourceAllocation"),
    ("DRASchedulerFilterTimeout", "DynamicResourceAllocation"),
    ("DRAWorkloadResourceClaims", "DynamicResourceAllocation GenericWorkload"),
    ("DeclarativeValidationBeta", "DeclarativeValidation"),
    ("DeclarativeValidationTakeover", "DeclarativeValidation"),
    ("DisableAllocatorDualWrite", "MultiCIDRServiceAllocator"),
    ("ExtendWebSocketsToKubelet", "NodeDeclaredFeatures"),
    ("GangScheduling", "GenericWorkload"),
    ("GracefulNodeShutdownBasedOnPodPriority", "GracefulNodeShutdown"),
    ("H2CContainerProbe", "NodeDeclaredFeatures"),
    ("ImageVolumeWithDigest", "ImageVolume"),
    ("InPlacePodLevelResourcesVerticalScaling", "InPlacePodVerticalScaling NodeDeclaredFeatures PodLevelResources"),
    ("InPlacePodVerticalScalingAllocatedStatus", "InPlacePodVerticalScaling"),
    ("InPlacePodVerticalScalingExclusiveCPUs", "InPlacePodVerticalScaling"),
    ("InPlacePodVerticalScalingExclusiveMemory", "InPlacePodVerticalScaling MemoryManager"),
    ("InPlacePodVerticalScalingInitContainers", "InPlacePodVerticalScaling NodeDeclaredFeatures"),
    ("InPlacePodVerticalScalingMemoryBackedVolumes", "InPlacePodVerticalScaling NodeDeclaredFeatures"),
    ("InPlacePodVerticalScalingSchedulerPreemption", "InPlacePodVerticalScaling"),
    ("KubeletAllocatedPodsEndpoint", "InPlacePodVerticalScaling"),
    ("MatchLabelKeysInPodTopologySpreadSelectorMerge", "MatchLabelKeysInPodTopologySpread"),
    ("NodeControllerLeaseCircuitBreaker", "AtomicFIFO"),
    ("PodCertificateRequest", "AuthorizeNodeWithSelectors"),
    ("PodGroupPreemptionPolicy", "GenericWorkload"),
    ("PodLevelResourceManagers", "PodLevelResources"),
    ("PodLevelResourcesFixDefaulting", "PodLevelResources"),
    ("PodLevelResourcesFixKubeletQOSClass", "PodLevelResources"),
    ("PodLifecycleSleepActionAllowZero", "PodLifecycleSleepAction"),
    ("ProcMountType", "UserNamespacesSupport"),
    ("ResourceHealthStatus", "DynamicResourceAllocation"),
    ("ResourceHealthStatusMessage", "ResourceHealthStatus"),
    ("RestartAllContainersOnContainerExits", "ContainerRestartRules NodeDeclaredFeatures"),
    ("ServiceAccountTokenNodeBinding", "ServiceAccountTokenNodeBindingValidation"),
    ("StaleControllerConsistencyDaemonSet", "AtomicFIFO"),
    ("StaleControllerConsistencyHPA", "AtomicFIFO"),
    ("StaleControllerConsistencyJob", "AtomicFIFO"),
    ("StaleControllerConsistencyReplicaSet", "AtomicFIFO"),
    ("StaleControllerConsistencyStatefulSet", "AtomicFIFO"),
    ("StorageVersionAPI", "APIServerIdentity"),
    ("StructuredAuthenticationConfigurationEgressSelector", "StructuredAuthenticationConfiguration"),
    ("StructuredAuthenticationConfigurationJWKSMetrics", "StructuredAuthenticationConfiguration"),
    ("TopologyAwareWorkloadScheduling", "GenericWorkload"),
    ("UnknownVersionInteroperabilityProxy", "APIServerIdentity"),
    ("UserNamespacesHostNetworkSupport", "NodeDeclaredFeatures UserNamespacesSupport"),
    ("WindowsCPUAndMemoryAffinity", "MemoryManager"),
    ("WindowsGracefulNodeShutdown", "GracefulNodeShutdown"),
    ("WorkloadAwarePreemption", "GangScheduling"),
    ("WorkloadWithJob", "GenericWorkload"),
];

/// Finds a gate, with its stage at a release.
pub(super) fn find(name: &str, release: Release) -> Option<(&'static str, GateStage)> {
    let (own, stages) = index().get_key_value(name)?;
    let at = usize::from(release.minor.saturating_sub(FIRST)).min(stages.len().saturating_sub(1));
    let stage = match stages.as_bytes().get(at)? {
        b'a' | b'A' => GateStage::Alpha,
        b'b' => GateStage::Beta(false),
        b'B' => GateStage::Beta(true),
        b'd' | b'g' => GateStage::Deprecated(false),
        b'D' => GateStage::Deprecated(true),
        b'G' => GateStage::Stable { locked: false },
        b'L' => GateStage::Stable { locked: true },
        b'l' => GateStage::Retired(false),
        _ => return None,
    };
    Some((own, stage))
}

/// Returns the stages by the names of the gates.
fn index() -> &'static BTreeMap<&'static str, &'static str> {
    static INDEX: OnceBox<BTreeMap<&'static str, &'static str>> = OnceBox::new();
    let each = |(stages, names): &(&'static str, &'static str)| {
        let stages = *stages;
        names.split(' ').map(move |name| (name, stages))
    };
    INDEX.get_or_init(|| Box::new(STAGES.iter().flat_map(each).collect()))
}

/// Returns the names of all gates of the table.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    STAGES.iter().flat_map(|(_, names)| names.split(' '))
}

/// Tells whether a release has a gate: the files of the releases say so of some, and the table of the others.
fn is_there(name: &str, release: Release) -> bool {
    let told = gates::gate(name).is_some_and(|gate| gate.stage_at(release) != GateStage::Gone);
    told || find(name, release).is_some()
}

/// Returns for each gate that is on while one that it needs is off what the kubelet says of that. A feature that has
/// lost its gate is there for good.
///
/// Source: k8s.io/component-base featuregate/feature_gate.go (v0.35), `unsafeSetFromMap`.
pub(super) fn unmet_needs(release: Release, is_on: impl Fn(&str) -> bool) -> Vec<String> {
    if release < NEEDS_SINCE {
        return Vec::new();
    }
    let mut told = Vec::new();
    for (gate, needed) in NEEDS.iter().filter(|(gate, _)| is_on(gate)) {
        let off: Vec<&str> = needed.split(' ').filter(|other| is_there(other, release) && !is_on(other)).collect();
        if !off.is_empty() {
            let off = off.join(" ");
            told.push(format!("{gate} is enabled, but depends on features that are disabled: [{off}]"));
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::{NEEDS, STAGES, find, unmet_needs};
    use crate::profile::{GateStage, RELEASES, Release, Settings};

    #[test]
    fn a_gate_has_its_stage_at_each_release() {
        for (name, release, stage) in [
            ("KubeletTracing", 31, Some(GateStage::Beta(true))),
            ("KubeletTracing", 34, Some(GateStage::Stable { locked: true })),
            ("KubeletCrashLoopBackOffMax", 31, None),
            ("KubeletCrashLoopBackOffMax", 34, Some(GateStage::Alpha)),
            ("KubeletCrashLoopBackOffMax", 35, Some(GateStage::Beta(true))),
            ("NodeLogQuery", 36, Some(GateStage::Stable { locked: true })),
            ("ContextualLogging", 12, Some(GateStage::Beta(true))),
            ("NoSuchGate", 34, None),
        ] {
            assert_eq!(find(name, Release::new(release, 0)).map(|(_, stage)| stage), stage, "{name} {release}");
        }
        let names = || STAGES.iter().flat_map(|(stages, names)| names.split(' ').map(move |name| (stages, name)));
        assert!(names().all(|(stages, _)| stages.len() == RELEASES.len()));
        assert!(names().all(|(_, name)| names().filter(|(_, other)| *other == name).count() == 1));
    }

    #[test]
    fn a_gate_that_needs_another_is_not_on_alone() {
        assert!(NEEDS.iter().all(|(gate, _)| STAGES.iter().any(|(_, names)| names.split(' ').any(|own| own == *gate))));
        for release in RELEASES {
            let settings = Settings::of(release);
            assert!(unmet_needs(release, |gate| settings.is_gate_on(gate)).is_empty(), "{release}");
        }
        let on = |gate: &str| gate.starts_with("GracefulNodeShutdownBased");
        assert!(unmet_needs(Release::new(34, 0), on).is_empty());
        let on_for_good = |gate: &str| gate == "StructuredAuthenticationConfigurationEgressSelector";
        assert_eq!(unmet_needs(Release::new(36, 0), on_for_good).len(), 1);
        assert!(unmet_needs(Release::new(37, 0), on_for_good).is_empty(), "what it needs has lost its gate");
        assert_eq!(
            unmet_needs(Release::new(35, 0), on),
            ["GracefulNodeShutdownBasedOnPodPriority is enabled, but depends on features that are disabled: \
                [GracefulNodeShutdown]"]
        );
    }
}
