//! The fields of the types of groups that a cluster's users write and nothing here acts on: see `types.rs` for the
//! notation.
//!
//! Source: k8s.io/api {events/v1,networking/v1,autoscaling/v2} types.go (v1.34), without fields of gates that are off.

pub(super) const TYPES: &str = "\
events.k8s.io Event = kind:str apiVersion:str metadata:ObjectMeta! eventTime:microtime series:EventSeries* \
    reportingController:str reportingInstance:str action:str reason:str regarding:ObjectReference \
    related:ObjectReference* note:str type:str deprecatedSource:EventSource deprecatedFirstTimestamp:time \
    deprecatedLastTimestamp:time deprecatedCount:int32\n\
NetworkPolicy = kind:str apiVersion:str metadata:ObjectMeta spec:NetworkPolicySpec\n\
Ingress = kind:str apiVersion:str metadata:ObjectMeta spec:IngressSpec status:IngressStatus\n\
IngressClass = kind:str apiVersion:str metadata:ObjectMeta spec:IngressClassSpec\n\
HorizontalPodAutoscaler = kind:str apiVersion:str metadata:ObjectMeta spec:HorizontalPodAutoscalerSpec \
    status:HorizontalPodAutoscalerStatus\n\
NetworkPolicySpec = podSelector:LabelSelector! ingress:[NetworkPolicyIngressRule] egress:[NetworkPolicyEgressRule] \
    policyTypes:[str]\n\
IngressSpec = ingressClassName:str* defaultBackend:IngressBackend* tls:[IngressTLS] rules:[IngressRule]\n\
IngressStatus = loadBalancer:IngressLoadBalancerStatus\n\
IngressClassSpec = controller:str parameters:IngressClassParametersReference*\n\
HorizontalPodAutoscalerSpec = scaleTargetRef:CrossVersionObjectReference! minReplicas:int32* maxReplicas:int32! \
    metrics:[MetricSpec] behavior:HorizontalPodAutoscalerBehavior*\n\
HorizontalPodAutoscalerStatus = observedGeneration:int* lastScaleTime:time* currentReplicas:int32 \
    desiredReplicas:int32! currentMetrics:[MetricStatus]! conditions:[HorizontalPodAutoscalerCondition]@type\n\
NetworkPolicyIngressRule = ports:[NetworkPolicyPort] from:[NetworkPolicyPeer]\n\
NetworkPolicyEgressRule = ports:[NetworkPolicyPort] to:[NetworkPolicyPeer]\n\
IngressBackend = service:IngressServiceBackend* resource:TypedLocalObjectReference*\n\
IngressTLS = hosts:[str] secretName:str\n\
IngressRule = host:str http:HTTPIngressRuleValue*\n\
IngressLoadBalancerStatus = ingress:[IngressLoadBalancerIngress]\n\
IngressClassParametersReference = apiGroup:str* kind:str! name:str! scope:str* namespace:str*\n\
CrossVersionObjectReference = kind:str! name:str! apiVersion:str\n\
MetricSpec = type:str! object:ObjectMetricSource* pods:PodsMetricSource* resource:ResourceMetricSource* \
    containerResource:ContainerResourceMetricSource* external:ExternalMetricSource*\n\
HorizontalPodAutoscalerBehavior = scaleUp:HPAScalingRules* scaleDown:HPAScalingRules*\n\
MetricStatus = type:str! object:ObjectMetricStatus* pods:PodsMetricStatus* resource:ResourceMetricStatus* \
    containerResource:ContainerResourceMetricStatus* external:ExternalMetricStatus*\n\
HorizontalPodAutoscalerCondition = type:str! status:str! lastTransitionTime:time reason:str message:str\n\
NetworkPolicyPort = protocol:str* port:intstr* endPort:int32*\n\
NetworkPolicyPeer = podSelector:LabelSelector* namespaceSelector:LabelSelector* ipBlock:IPBlock*\n\
IngressServiceBackend = name:str! port:ServiceBackendPort\n\
IngressLoadBalancerIngress = ip:str hostname:str ports:[IngressPortStatus]\n\
ObjectMetricSource = describedObject:CrossVersionObjectReference! target:MetricTarget! metric:MetricIdentifier!\n\
PodsMetricSource = metric:MetricIdentifier! target:MetricTarget!\n\
ResourceMetricSource = name:str! target:MetricTarget!\n\
ContainerResourceMetricSource = name:str! target:MetricTarget! container:str!\n\
ExternalMetricSource = metric:MetricIdentifier! target:MetricTarget!\n\
HPAScalingRules = stabilizationWindowSeconds:int32* selectPolicy:str* policies:[HPAScalingPolicy]\n\
ObjectMetricStatus = metric:MetricIdentifier! current:MetricValueStatus! \
    describedObject:CrossVersionObjectReference!\n\
PodsMetricStatus = metric:MetricIdentifier! current:MetricValueStatus!\n\
ResourceMetricStatus = name:str! current:MetricValueStatus!\n\
ContainerResourceMetricStatus = name:str! current:MetricValueStatus! container:str!\n\
ExternalMetricStatus = metric:MetricIdentifier! current:MetricValueStatus!\n\
IPBlock = cidr:str! except:[str]\n\
ServiceBackendPort = name:str number:int32\n\
HTTPIngressRuleValue = paths:[HTTPIngressPath]!\n\
IngressPortStatus = port:int32! protocol:str! error:str*\n\
MetricTarget = type:str! value:quantity* averageValue:quantity* averageUtilization:int32*\n\
MetricIdentifier = name:str! selector:LabelSelector*\n\
HPAScalingPolicy = type:str! value:int32! periodSeconds:int32!\n\
MetricValueStatus = value:quantity* averageValue:quantity* averageUtilization:int32*\n\
HTTPIngressPath = path:str pathType:str* backend:IngressBackend!\n\
";
