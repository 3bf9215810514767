//! The fields of a `KubeletConfiguration` with their types, and how a kubelet reads a file of it.
//!
//! Mirrors k8s.io/kubelet config/v1beta1 types.go, k8s.io/component-base logs/api/v1 and tracing/api/v1 (v1.34), read
//! as sigs.k8s.io/json does: the first field of a wrong type is told at the end, a value that cannot be read at once;
//! names that nobody knows are passed over. Input: a configuration. Output: nothing, or the decoder's message.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::objects::Json;
use crate::objects::schema::{instant_error, quantity_error};
use crate::objects::time::{go_duration_error, parse_duration};

/// The type of the file.
const WHOLE: &str = "v1beta1.KubeletConfiguration";

/// Structs with their fields and the Go types of these; a type that is another by a second name has `=` before it.
const TYPES: [(&str, &str); 24] = [
    (WHOLE, CONFIGURATION),
    (
        "v1beta1.KubeletAuthentication",
        "x509:v1beta1.KubeletX509Authentication webhook:v1beta1.KubeletWebhookAuthentication \
         anonymous:v1beta1.KubeletAnonymousAuthentication",
    ),
    ("v1beta1.KubeletX509Authentication", "clientCAFile:string"),
    ("v1beta1.KubeletWebhookAuthentication", "enabled:bool cacheTTL:v1.Duration"),
    ("v1beta1.KubeletAnonymousAuthentication", "enabled:bool"),
    (
        "v1beta1.KubeletAuthorization",
        "mode:v1beta1.KubeletAuthorizationMode webhook:v1beta1.KubeletWebhookAuthorization",
    ),
    ("v1beta1.KubeletAuthorizationMode", "=string"),
    ("v1beta1.KubeletWebhookAuthorization", "cacheAuthorizedTTL:v1.Duration cacheUnauthorizedTTL:v1.Duration"),
    ("v1beta1.CrashLoopBackOffConfig", "maxContainerRestartPeriod:*v1.Duration"),
    ("v1beta1.MemorySwapConfiguration", "swapBehavior:string"),
    ("v1beta1.MemoryReservation", "numaNode:int32 limits:v1.ResourceList"),
    ("v1.ResourceList", "=map[string]resource.Quantity"),
    ("v1beta1.ShutdownGracePeriodByPodPriority", "priority:int32 shutdownGracePeriodSeconds:int64"),
    ("v1beta1.UserNamespaces", "idsPerPod:int64"),
    ("v1beta1.ResourceChangeDetectionStrategy", "=string"),
    ("v1beta1.ImagePullCredentialsVerificationPolicy", "=string"),
    ("v1.Taint", "key:string value:string effect:v1.TaintEffect timeAdded:v1.Time"),
    ("v1.TaintEffect", "=string"),
    (
        "v1.LoggingConfiguration",
        "format:string flushFrequency:v1.TimeOrMetaDuration verbosity:v1.VerbosityLevel \
         vmodule:v1.VModuleConfiguration options:v1.FormatOptions",
    ),
    ("v1.VModuleConfiguration", "=[]v1.VModuleItem"),
    ("v1.VModuleItem", "filePattern:string verbosity:v1.VerbosityLevel"),
    ("v1.FormatOptions", "text:v1.TextOptions json:v1.JSONOptions"),
    ("v1.TextOptions", ROUTING),
    ("v1.JSONOptions", ROUTING),
];
/// The fields of both formats of logs.
const ROUTING: &str = "splitStream:bool infoBufferSize:resource.QuantityValue";
/// The fields of [`WHOLE`] (v1.34, v1.36 and v1.37); durations that may be null have `*` before their type.
const CONFIGURATION: &str = "apiVersion:string kind:string address:string allowedUnsafeSysctls:[]string \
    authentication:v1beta1.KubeletAuthentication authorization:v1beta1.KubeletAuthorization cgroupDriver:string \
    cgroupRoot:string cgroupsPerQOS:bool clusterDNS:[]string clusterDomain:string \
    configMapAndSecretChangeDetectionStrategy:v1beta1.ResourceChangeDetectionStrategy containerLogMaxFiles:int32 \
    containerLogMaxSize:string containerLogMaxWorkers:int32 containerLogMonitorInterval:*v1.Duration \
    containerRuntimeEndpoint:string contentType:string cpuCFSQuota:bool cpuCFSQuotaPeriod:*v1.Duration \
    cpuManagerPolicy:string cpuManagerPolicyOptions:map[string]string cpuManagerReconcilePeriod:v1.Duration \
    crashLoopBackOff:v1beta1.CrashLoopBackOffConfig defaultPodSysctls:map[string]string \
    enableContentionProfiling:bool enableControllerAttachDetach:bool \
    enableDebugFlagsHandler:bool enableDebuggingHandlers:bool enableProfilingHandler:bool enableServer:bool \
    enableSystemLogHandler:bool enableSystemLogQuery:bool enforceNodeAllocatable:[]string eventBurst:int32 \
    eventRecordQPS:int32 evictionHard:map[string]string evictionMaxPodGracePeriod:int32 \
    evictionMinimumReclaim:map[string]string evictionPressureTransitionPeriod:v1.Duration \
    evictionSoft:map[string]string evictionSoftGracePeriod:map[string]string failCgroupV1:bool failSwapOn:bool \
    featureGates:map[string]bool fileCheckFrequency:v1.Duration hairpinMode:string healthzBindAddress:string \
    healthzPort:int32 httpCheckFrequency:v1.Duration imageGCHighThresholdPercent:int32 \
    imageGCLowThresholdPercent:int32 imageMaximumGCAge:v1.Duration imageMinimumGCAge:v1.Duration \
    imagePullCredentialsVerificationPolicy:v1beta1.ImagePullCredentialsVerificationPolicy \
    imageServiceEndpoint:string iptablesDropBit:int32 iptablesMasqueradeBit:int32 kernelMemcgNotification:bool \
    kubeAPIBurst:int32 kubeAPIQPS:int32 kubeReserved:map[string]string kubeReservedCgroup:string \
    kubeletCgroups:string localStorageCapacityIsolation:bool logging:v1.LoggingConfiguration \
    makeIPTablesUtilChains:bool maxOpenFiles:int64 maxParallelImagePulls:int32 maxPods:int32 \
    memoryManagerPolicy:string memoryReservationPolicy:string memorySwap:v1beta1.MemorySwapConfiguration \
    memoryThrottlingFactor:float64 mergeDefaultEvictionSettings:bool nodeLeaseDurationSeconds:int32 \
    nodeStatusMaxImages:int32 nodeStatusReportFrequency:v1.Duration nodeStatusUpdateFrequency:v1.Duration \
    oomScoreAdj:int32 podCIDR:string podLogsDir:string podPidsLimit:int64 podsPerCore:int32 port:int32 \
    preloadedImagesVerificationAllowlist:[]string protectKernelDefaults:bool providerID:string \
    qosReserved:map[string]string readOnlyPort:int32 registerNode:bool registerWithTaints:[]v1.Taint \
    registryBurst:int32 registryPullQPS:int32 reservedMemory:[]v1beta1.MemoryReservation reservedSystemCPUs:string \
    resolvConf:string rotateCertificates:bool runOnce:bool runtimeRequestTimeout:v1.Duration seccompDefault:bool \
    serializeImagePulls:bool serverTLSBootstrap:bool showHiddenMetricsForVersion:string \
    shutdownGracePeriod:v1.Duration \
    shutdownGracePeriodByPodPriority:[]v1beta1.ShutdownGracePeriodByPodPriority \
    shutdownGracePeriodCriticalPods:v1.Duration singleProcessOOMKill:bool staticPodPath:string staticPodURL:string \
    staticPodURLHeader:map[string][]string streamingConnectionIdleTimeout:v1.Duration syncFrequency:v1.Duration \
    systemCgroups:string systemReserved:map[string]string systemReservedCgroup:string tlsCertFile:string \
    tlsCipherSuites:[]string tlsMinVersion:string tlsPrivateKeyFile:string topologyManagerPolicy:string \
    topologyManagerPolicyOptions:map[string]string topologyManagerScope:string tracing:v1.TracingConfiguration \
    userNamespaces:v1beta1.UserNamespaces volumePluginDir:string volumeStatsAggPeriod:v1.Duration";
/// The type whose package has the name of the one of logs.
const TRACING: (&str, &str) = ("v1.TracingConfiguration", "endpoint:string samplingRatePerMillion:int32");

/// Returns the names of the fields of a configuration.
pub(super) fn field_names() -> impl Iterator<Item = &'static str> {
    CONFIGURATION.split(' ').filter_map(|field| Some(field.split_once(':')?.0))
}

/// Returns the type of a field, `a.b.c`.
pub(super) fn field_type(path: &str) -> Option<&'static str> {
    path.split('.').try_fold(WHOLE, |owner, name| {
        let own = definition(owner)?.split(' ').find_map(|field| field.split_once(':').filter(|(own, _)| *own == name));
        own.map(|(_, go)| go.trim_start_matches('*'))
    })
}

/// Returns the fields of a type, or the type of which it is another name.
fn definition(go: &str) -> Option<&'static str> {
    TYPES.iter().chain([&TRACING]).find(|(name, _)| *name == go).map(|(_, fields)| *fields)
}

/// Reads a configuration as the kubelet's decoder does.
///
/// # Errors
/// The decoder's message.
pub fn check_types(config: &Json) -> Result<(), String> {
    let mut reader = Reader { owner: "", path: Vec::new(), first: None };
    reader.value(config, WHOLE)?;
    reader.first.map_or(Ok(()), Err)
}

struct Reader<'a> {
    /// The struct around the current value, without its package.
    owner: &'static str,
    /// The fields that lead to it.
    path: Vec<&'a str>,
    /// The first value of a wrong type.
    first: Option<String>,
}

impl<'a> Reader<'a> {
    fn value(&mut self, value: &'a Json, go: &'static str) -> Result<(), String> {
        match go {
            "*v1.Duration" if value.is_null() => return Ok(()),
            "v1.Duration" | "*v1.Duration" => return self.duration(value),
            "v1.TimeOrMetaDuration" => return self.duration_or_nanoseconds(value),
            "v1.Time" => return self.time(value),
            "resource.Quantity" | "resource.QuantityValue" => return quantity(value),
            _ if value.is_null() => return Ok(()),
            _ => {}
        }
        let known = definition(go);
        let base = known.and_then(|known| known.strip_prefix('=')).unwrap_or(go);
        if let (Some(item), Json::Array(items)) = (base.strip_prefix("[]"), value) {
            return items.iter().try_for_each(|value| self.value(value, item));
        }
        if let (Some(item), Json::Object(_)) = (base.strip_prefix("map[string]"), value) {
            return value.fields().try_for_each(|(_, value)| self.value(value, item));
        }
        if let (Some(fields), Json::Object(_)) = (known.filter(|_| base == go), value) {
            return self.fields(value, go, fields);
        }
        let is_number = matches!(base, "int32" | "int64" | "v1.VerbosityLevel");
        let fits = match (base, value) {
            ("string", Json::Str(_)) | ("bool", Json::Bool(_)) | ("float64", Json::Int(_) | Json::Float(_)) => true,
            ("int32", Json::Int(number)) => i32::try_from(*number).is_ok(),
            ("v1.VerbosityLevel", Json::Int(number)) => u32::try_from(*number).is_ok(),
            ("int64", Json::Int(_)) => true,
            _ => false,
        };
        if !fits && self.first.is_none() {
            let shown = match value {
                Json::Int(_) | Json::Float(_) if is_number => format!("number {value}"),
                _ => type_of(value).to_string(),
            };
            self.first = Some(self.mismatch(&shown, go));
        }
        Ok(())
    }

    fn fields(&mut self, value: &'a Json, go: &'static str, fields: &'static str) -> Result<(), String> {
        let outer = core::mem::replace(&mut self.owner, go.split_once('.').map_or(go, |(_, name)| name));
        for (name, value) in value.fields() {
            let go = fields.split(' ').find_map(|field| field.split_once(':').filter(|(own, _)| *own == name.as_str()));
            let Some((_, go)) = go else { continue };
            self.path.push(name);
            self.value(value, go)?;
            self.path.pop();
        }
        self.owner = outer;
        Ok(())
    }

    fn mismatch(&self, found: &str, go: &str) -> String {
        let (owner, path) = (self.owner, self.path.join("."));
        format!("json: cannot unmarshal {found} into Go struct field {owner}.{path} of type {go}")
    }

    /// Source: k8s.io/apimachinery pkg/apis/meta/v1/duration.go (v1.34), `UnmarshalJSON`.
    fn duration(&self, value: &Json) -> Result<(), String> {
        let text = match value {
            Json::Null => "",
            Json::Str(text) => text.as_str(),
            _ => return Err(self.mismatch(type_of(value), "string")),
        };
        parse_duration(text).map(drop).ok_or_else(|| go_duration_error(text))
    }

    /// Source: k8s.io/component-base logs/api/v1/types.go (v1.34), `TimeOrMetaDuration.UnmarshalJSON`.
    fn duration_or_nanoseconds(&self, value: &Json) -> Result<(), String> {
        match value {
            Json::Str(_) => self.duration(value),
            Json::Null | Json::Int(_) => Ok(()),
            _ => {
                let found =
                    if matches!(value, Json::Float(_)) { format!("number {value}") } else { type_of(value).into() };
                let text = value.to_string();
                Err(format!(
                    "invalid duration {text:?}: json: cannot unmarshal {found} into Go value of type time.Duration"
                ))
            }
        }
    }

    /// Source: k8s.io/apimachinery pkg/apis/meta/v1/time.go (v1.34), `UnmarshalJSON`.
    fn time(&self, value: &Json) -> Result<(), String> {
        match value {
            Json::Null => Ok(()),
            Json::Str(text) => instant_error(text).map_or(Ok(()), Err),
            _ => Err(self.mismatch(type_of(value), "string")),
        }
    }
}

/// Source: k8s.io/apimachinery pkg/api/resource/quantity.go (v1.34), `UnmarshalJSON`: the text as it stands.
fn quantity(value: &Json) -> Result<(), String> {
    let text = match value {
        Json::Null => return Ok(()),
        Json::Str(text) => text.to_string(),
        _ => value.to_string(),
    };
    quantity_error(&text).map_or(Ok(()), Err)
}

/// Returns what Go's decoder calls a value.
#[must_use]
pub fn type_of(value: &Json) -> &'static str {
    match value {
        Json::Bool(_) => "bool",
        Json::Int(_) | Json::Float(_) => "number",
        Json::Str(_) => "string",
        Json::Array(_) => "array",
        _ => "object",
    }
}

#[cfg(test)]
mod tests {
    use super::check_types;
    use crate::json;

    #[test]
    fn the_first_wrong_type_is_told_and_what_cannot_be_read_before_it() {
        for (config, error) in [
            (json!({"maxPods": null, "unknown": [], "maxpods": "x", "imageGCHighThresholdPercent": 5}), ""),
            (
                json!({"maxPods": "x"}),
                "json: cannot unmarshal string into Go struct field KubeletConfiguration.maxPods of type int32",
            ),
            (
                json!({"maxPods": 2_147_483_648_i64}),
                "json: cannot unmarshal number 2147483648 into Go struct field KubeletConfiguration.maxPods of type \
                 int32",
            ),
            (
                json!({"authentication": {"anonymous": {"enabled": "x"}}}),
                "json: cannot unmarshal string into Go struct field \
                 KubeletAnonymousAuthentication.authentication.anonymous.enabled of type bool",
            ),
            (
                json!({"registerWithTaints": [{"effect": 5}]}),
                "json: cannot unmarshal number into Go struct field Taint.registerWithTaints.effect of type \
                 v1.TaintEffect",
            ),
            (
                json!({"evictionHard": {"a": 1}}),
                "json: cannot unmarshal number into Go struct field KubeletConfiguration.evictionHard of type string",
            ),
            (json!({"maxPods": "x", "syncFrequency": "1d"}), "time: unknown unit \"d\" in duration \"1d\""),
            (json!({"syncFrequency": null}), "time: invalid duration \"\""),
            (
                json!({"logging": {"flushFrequency": {}}}),
                "invalid duration \"{}\": json: cannot unmarshal object into Go value of type time.Duration",
            ),
            (json!({"reservedMemory": [{"limits": {"memory": "1e"}}]}), "unable to parse quantity's suffix"),
        ] {
            assert_eq!(check_types(&config).err().unwrap_or_default(), error, "{config}");
        }
    }
}
