//! The feature gates of a kubelet, release by release: it takes each of them, and its checks ask for some.
//!
//! Source: pkg/features/kube_features.go with k8s.io/{apiserver,client-go,component-base} (v1.31 to v1.36). A gate
//! whose stages stand in the files of the releases has those. Inputs: a name, a release. Outputs: the stage of the
//! gate, and which other gates it needs.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{GateStage, Release};

/// The first release of the table; older ones are taken for it.
const FIRST: u16 = 31;
/// From when on a gate is refused while one that it needs is off.
const NEEDS_SINCE: Release = Release::new(35, 0);

/// Gates by their stages in 1.31, 1.32 and so on: alpha, beta, deprecated and general availability, a capital letter
/// for one that is on, `L` and `l` for one that is locked to on and to off, and a dash where there is no such gate.
const STAGES: &[(&str, &str)] = &[
    (
        "-----B",
        "AtomicFIFO ClientsAllowCARotation ClientsAllowTLSCacheGC DRAResourceClaimGranularStatusAuthorization \
            DeclarativeValidationBeta ExtendWebSocketsToKubelet InPlacePodVerticalScalingInitContainers \
            PLEGOnDemandRelist ReloadKubeletClientCAFile ResourceHealthStatusMessage \
            StaleControllerConsistencyDaemonSet StaleControllerConsistencyJob \
            StaleControllerConsistencyReplicaSet StaleControllerConsistencyStatefulSet UnlockWhileProcessingFIFO",
    ),
    ("-----D", "ServiceCIDRStatusFieldWiping"),
    ("-----G", "AllowServiceExternalIPs"),
    (
        "-----a",
        "CRIListStreaming DRAListTypeAttributes DRANodeAllocatableResources DRAResourcePoolStatus \
            DRAWorkloadResourceClaims ImageVolumeWithDigest ManifestBasedAdmissionControlConfig \
            PersistentVolumeClaimUnusedSinceTime PodLevelResourceManagers PodsAPI ShardedListAndWatch \
            TopologyAwareWorkloadScheduling WorkloadAwarePreemption WorkloadWithJob",
    ),
    (
        "----BB",
        "AuthorizePodWebsocketUpgradeCreatePermission InOrderInformersBatchProcess OpportunisticBatching \
            StructuredAuthenticationConfigurationJWKSMetrics",
    ),
    ("----BL", "CSIServiceAccountTokenSecrets"),
    (
        "----aB",
        "ConstrainedImpersonation InPlacePodLevelResourcesVerticalScaling MutablePodResourcesForSuspendedJobs \
            MutableSchedulingDirectivesForSuspendedJobs NodeDeclaredFeatures \
            RestartAllContainersOnContainerExits",
    ),
    (
        "----aa",
        "CloudControllerManagerWatchBasedRoutesReconciliation GangScheduling GenericWorkload \
            MutablePVNodeAffinity TaintTolerationComparisonOperators UserNamespacesHostNetworkSupport \
            VolumeLimitScaling",
    ),
    ("----ab", "DRADeviceTaintRules"),
    ("----bB", "CRDObservedGenerationTracking"),
    ("----dd", "ChangeContainerStatusOnKubeletRestart"),
    (
        "---BBB",
        "DRASchedulerFilterTimeout DetectCacheInconsistency MatchLabelKeysInPodTopologySpreadSelectorMerge \
            PreventStaticPodAPIReferences SizeBasedListCostEstimate StatefulSetSemanticRevisionComparison \
            StructuredAuthenticationConfigurationEgressSelector TokenRequestServiceAccountUIDValidation",
    ),
    ("---DDD", "KubeletPodResourcesListUseActivePods"),
    ("---L--", "ProbeHostPodSecurityStandards"),
    (
        "---aBB",
        "ClearingNominatedNodeNameAfterBinding ContainerRestartRules EnvFiles HostnameOverride \
            NominatedNodeNameForExpectation",
    ),
    ("---aaB", "DRAConsumableCapacity DRADeviceBindingConditions DRAExtendedResource RelaxedServiceNameValidation"),
    ("---aaa", "InPlacePodVerticalScalingExclusiveMemory"),
    ("---abb", "PodCertificateRequest"),
    ("---bBb", "SchedulerAsyncAPICalls"),
    ("--BBBB", "AllowParsingUserUIDFromCertAuth SchedulerPopFromBackoffQ"),
    ("--BBBD", "DisableCPUQuotaWithExclusiveCPUs"),
    ("--BBBL", "DeclarativeValidation InOrderInformers"),
    ("--BLLL", "StreamingCollectionEncodingToJSON StreamingCollectionEncodingToProtobuf"),
    ("--DDLL", "AggregatedDiscoveryRemoveBetaType"),
    ("--aBBB", "KubeletServiceAccountTokenForCredentialProviders ListFromCacheSnapshot"),
    ("--aBBG", "DRAPrioritizedList"),
    ("--aBBL", "KubeletPSI"),
    ("--aBLL", "PodObservedGenerationTracking PreferSameTrafficDistribution"),
    (
        "--aaBB",
        "DeploymentReplicaSetTerminatingReplicas HPAConfigurableTolerance KubeletEnsureSecretPulledImages \
            PodTopologyLabelsAdmission",
    ),
    ("--aaaB", "DRADeviceTaints DRAPartitionableDevices StrictIPCIDRValidation"),
    ("--aaaa", "ContainerStopSignals ReduceDefaultCrashLoopBackOffDecay StorageCapacityScoring"),
    ("--abBL", "MutableCSINodeAllocatableCount"),
    ("--bbbd", "DeclarativeValidationTakeover"),
    ("--d---", "LegacySidecarContainers"),
    ("--dddl", "GitRepoVolumeDriver"),
    ("-BBBBB", "ServiceAccountNodeAudienceRestriction"),
    ("-BBBLL", "SystemdWatchdog"),
    ("-BLLLL", "BtreeWatchCache"),
    ("-aBBBB", "DRAResourceClaimDeviceStatus RemoteRequestHeaderUID SchedulerAsyncPreemption"),
    ("-aBBBL", "KubeletFineGrainedAuthz SELinuxChangePolicy"),
    ("-aBLLL", "PodLifecycleSleepActionAllowZero RelaxedDNSSearchValidation"),
    ("-aaBBB", "PodLevelResources WindowsGracefulNodeShutdown"),
    ("-aaBBL", "DRAAdminAccess ExternalServiceAccountTokenSigner"),
    ("-aaaBB", "KubeletCrashLoopBackOffMax"),
    ("-aaaaB", "ComponentFlagz ComponentStatusz"),
    (
        "-aaaaa",
        "AllowUnsafeMalformedObjectDeletion CBORServingAndStorage ClientsAllowCBOR ClientsPreferCBOR \
            InPlacePodVerticalScalingExclusiveCPUs PodLogsQuerySplitStreams WindowsCPUAndMemoryAffinity",
    ),
    ("-addd-", "InPlacePodVerticalScalingAllocatedStatus"),
    ("-ddddd", "KubeletRegistrationGetOnExistsOnly"),
    ("-dddll", "AllowOverwriteTerminationGracePeriodSeconds"),
    ("AAdddd", "WindowsHostNetwork"),
    (
        "BBBBBB",
        "APIResponseCompression APIServerIdentity CPUManagerPolicyBetaOptions ContainerCheckpoint \
            ContextualLogging GracefulNodeShutdown GracefulNodeShutdownBasedOnPodPriority KubeletSeparateDiskGC \
            LoggingBetaOptions MatchLabelKeysInPodTopologySpread OpenAPIEnums PodDeletionCost \
            PodReadyToStartContainersCondition PortForwardWebsockets ReloadKubeletServerCertificateFile \
            RotateKubeletServerCertificate StorageVersionHash TopologyManagerPolicyBetaOptions \
            TranslateStreamCloseWebsocketRequests UnauthenticatedHTTP2DOSMitigation",
    ),
    ("BBBBBL", "SELinuxMountReadWriteOncePod"),
    ("BBBBLL", "ImageMaximumGCAge"),
    (
        "BBBLLL",
        "APIServerTracing ConsistentListFromCache JobPodReplacementPolicy KubeletCgroupDriverFromCRI \
            KubeletTracing NodeSwap PodLifecycleSleepAction ResilientWatchCacheInitialization \
            SeparateTaintEvictionController StructuredAuthenticationConfiguration WinOverlay",
    ),
    ("BBDDDD", "StorageNamespaceIndex"),
    ("BBLLL-", "CSIMigrationPortworx HonorPVReclaimPolicy ServiceTrafficDistribution TopologyAwareHints"),
    (
        "BBLLLL",
        "AnyVolumeDataSource CPUManagerPolicyOptions CRDValidationRatcheting JobBackoffLimitPerIndex \
            JobSuccessPolicy MatchLabelKeysInPodAffinity NFTablesProxyMode \
            NodeInclusionPolicyInPodTopologySpread RecursiveReadOnlyMounts ServiceAccountTokenNodeBinding \
            SidecarContainers",
    ),
    ("BBdddl", "SeparateCacheWatchRPC"),
    ("BGGGGL", "TopologyManagerPolicyOptions"),
    (
        "BLLL--",
        "CronJobsScheduledAnnotation LoadBalancerIPMode PodIndexLabel SizeMemoryBackedVolumes \
            StatefulSetAutoDeletePVC",
    ),
    ("BLLLL-", "MemoryManager StructuredAuthorizationConfiguration"),
    (
        "BLLLLL",
        "CustomResourceFieldSelectors RetryGenerateName ServiceAccountTokenJTI \
            ServiceAccountTokenNodeBindingValidation ServiceAccountTokenPodNodeInfo",
    ),
    ("GGGGLL", "ExecProbeTimeout"),
    (
        "L-----",
        "CloudDualStackNodeIPs HPAContainerMetrics KMSv2 KMSv2KDF LegacyServiceAccountTokenCleanUp \
            MinDomainsInPodTopologySpread NewVolumeManagerReconstruction NodeOutOfServiceVolumeDetach PodHostIPs \
            ServerSideApply ServerSideFieldValidation StableLoadBalancerNodeSet ValidatingAdmissionPolicy \
            ZeroLimitedNominalConcurrencyShares",
    ),
    (
        "LL----",
        "APIListChunking AdmissionWebhookMatchConditions AggregatedDiscoveryEndpoint AppArmor AppArmorFields \
            CPUManager DisableCloudProviders DisableKubeletCloudCredentialProviders EfficientWatchResumption \
            JobPodFailurePolicy KubeProxyDrainingTerminatingNodes PDBUnhealthyPodEvictionPolicy \
            PersistentVolumeLastPhaseTransitionTime RemainingItemCount WatchBookmark",
    ),
    ("LLL---", "DevicePluginCDIDevices ElasticIndexedJob PodDisruptionConditions StatefulSetStartOrdinal"),
    ("LLLLLL", "LogarithmicScaleDown PodSchedulingReadiness"),
    ("a-----", "DRAControlPlaneController"),
    ("aBBBLL", "JobManagedBy"),
    (
        "aBBLLL",
        "AnonymousAuthConfigurableEndpoints AuthorizeNodeWithSelectors AuthorizeWithSelectors \
            RecoverVolumeExpansionFailure RelaxedEnvironmentVariableValidation",
    ),
    ("aBbBBB", "WatchList"),
    ("aa----", "VolumeCapacityPriority"),
    ("aaBBLL", "InPlacePodVerticalScaling SupplementalGroupsPolicy"),
    ("aaBLLL", "WinDSR"),
    ("aaaBBL", "KubeletPodResourcesDynamicResources KubeletPodResourcesGet"),
    ("aaaa--", "UserNamespacesPodSecurityStandards"),
    ("aaaaBb", "MaxUnavailableStatefulSet"),
    ("aaaaGG", "InformerResourceVersion"),
    ("aaaaa-", "InTreePluginPortworxUnregister"),
    ("aaaaaB", "ResourceHealthStatus UnknownVersionInteroperabilityProxy"),
    ("aaaaaG", "CustomCPUCFSQuotaPeriod"),
    (
        "aaaaaa",
        "APIServingWithRoutine AllAlpha CPUManagerPolicyAlphaOptions CSIVolumeHealth \
            CloudControllerManagerWebhook CrossNamespaceVolumeDataSource EventedPLEG HPAScaleToZero \
            KubeletInUserNamespace LoggingAlphaOptions MemoryQoS PodAndContainerStatsFromCRI QOSReserved \
            RuntimeClassInImageCriApi StorageVersionAPI TopologyManagerPolicyAlphaOptions",
    ),
    ("aaaabb", "StorageVersionMigrator"),
    ("aaabbG", "MutatingAdmissionPolicy"),
    ("aabGLL", "DisableAllocatorDualWrite"),
    ("aabbBL", "ImageVolume"),
    ("aabbbb", "ClusterTrustBundle ClusterTrustBundleProjection CoordinatedLeaderElection SELinuxMount"),
    ("abbGLL", "DynamicResourceAllocation"),
    ("b-BLLL", "OrderedNamespaceDeletion"),
    ("bBBLLL", "SchedulerQueueingHints"),
    ("bLLL--", "StrictCostEnforcementForVAP StrictCostEnforcementForWebhooks"),
    ("bbBBBL", "ProcMountType UserNamespacesSupport"),
    ("bbGLLL", "MultiCIDRServiceAllocator"),
    ("bbbGGL", "VolumeAttributesClass"),
    ("bbbbBB", "WatchListClient"),
    ("bbbbbB", "WatchCacheInitializationPostStartHook"),
    ("bbbbbL", "NodeLogQuery"),
    ("bbbbbb", "AllBeta ConcurrentWatchObjectDecode LocalStorageCapacityIsolationFSQuotaMonitoring"),
    ("bblll-", "WatchFromStorageWithoutResourceVersion"),
    ("ddDDDL", "DisableNodeKubeProxyVersion"),
    ("dddddd", "AllowDNSOnlyNodeCSR AllowInsecureKubeletCertificateSigningRequests KMSv1"),
    ("dlll--", "AllowServiceLBStatusOnNonLB"),
];

/// Gates with those that they need, from 1.35 on. Source: as above (v1.35, v1.36),
/// `defaultKubernetesFeatureGateDependencies`.
const NEEDS: &[(&str, &str)] = &[
    ("AuthorizeNodeWithSelectors", "AuthorizeWithSelectors"),
    ("ClusterTrustBundleProjection", "ClusterTrustBundle"),
    ("DRAAdminAccess", "DynamicResourceAllocation"),
    ("DRAConsumableCapacity", "DynamicResourceAllocation"),
    ("DRADeviceBindingConditions", "DRAResourceClaimDeviceStatus DynamicResourceAllocation"),
    ("DRADeviceTaintRules", "DRADeviceTaints"),
    ("DRADeviceTaints", "DynamicResourceAllocation"),
    ("DRAExtendedResource", "DynamicResourceAllocation"),
    ("DRAListTypeAttributes", "DynamicResourceAllocation"),
    ("DRANodeAllocatableResources", "DynamicResourceAllocation"),
    ("DRAPartitionableDevices", "DynamicResourceAllocation"),
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
    ("ImageVolumeWithDigest", "ImageVolume"),
    ("InPlacePodLevelResourcesVerticalScaling", "InPlacePodVerticalScaling NodeDeclaredFeatures PodLevelResources"),
    ("InPlacePodVerticalScalingAllocatedStatus", "InPlacePodVerticalScaling"),
    ("InPlacePodVerticalScalingExclusiveCPUs", "InPlacePodVerticalScaling"),
    ("InPlacePodVerticalScalingExclusiveMemory", "InPlacePodVerticalScaling MemoryManager"),
    ("InPlacePodVerticalScalingInitContainers", "InPlacePodVerticalScaling NodeDeclaredFeatures"),
    ("MatchLabelKeysInPodTopologySpreadSelectorMerge", "MatchLabelKeysInPodTopologySpread"),
    ("PodCertificateRequest", "AuthorizeNodeWithSelectors"),
    ("PodLevelResourceManagers", "PodLevelResources"),
    ("PodLifecycleSleepActionAllowZero", "PodLifecycleSleepAction"),
    ("ProcMountType", "UserNamespacesSupport"),
    ("ResourceHealthStatus", "DynamicResourceAllocation"),
    ("ResourceHealthStatusMessage", "ResourceHealthStatus"),
    ("RestartAllContainersOnContainerExits", "ContainerRestartRules NodeDeclaredFeatures"),
    ("ServiceAccountTokenNodeBinding", "ServiceAccountTokenNodeBindingValidation"),
    ("StaleControllerConsistencyDaemonSet", "AtomicFIFO"),
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
    let of = |(stages, names): &(&'static str, &'static str)| {
        names.split(' ').find(|own| *own == name).map(|own| (own, *stages))
    };
    let (own, stages) = STAGES.iter().find_map(of)?;
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

/// Returns the names of all gates of the table.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    STAGES.iter().flat_map(|(_, names)| names.split(' '))
}

/// Returns for each gate that is on while one that it needs is off what the kubelet says of that.
///
/// Source: k8s.io/component-base featuregate/feature_gate.go (v0.35), `unsafeSetFromMap`.
pub(super) fn unmet_needs(release: Release, is_on: impl Fn(&str) -> bool) -> Vec<String> {
    if release < NEEDS_SINCE {
        return Vec::new();
    }
    let mut told = Vec::new();
    for (gate, needed) in NEEDS.iter().filter(|(gate, _)| is_on(gate)) {
        let off: Vec<&str> = needed.split(' ').filter(|other| !is_on(other)).collect();
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
        assert_eq!(
            unmet_needs(Release::new(35, 0), on),
            ["GracefulNodeShutdownBasedOnPodPriority is enabled, but depends on features that are disabled: \
                [GracefulNodeShutdown]"]
        );
    }
}
