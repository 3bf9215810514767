//! The fields of the types by which a cluster's server is set up: see `types.rs` for the notation.
//!
//! Source: k8s.io/api {admissionregistration,flowcontrol,networking,storage}/v1 types.go, k8s.io/kube-aggregator
//! pkg/apis/apiregistration/v1/types.go and k8s.io/apiextensions-apiserver pkg/apis/apiextensions/v1/types.go (v1.34;
//! the same fields from v1.31 to v1.37). What lies within a list that is owned as a whole is not told.

pub(super) const TYPES: &str = "\
MutatingWebhookConfiguration = kind:str apiVersion:str metadata:ObjectMeta webhooks:[MutatingWebhook]@name\n\
ValidatingWebhookConfiguration = kind:str apiVersion:str metadata:ObjectMeta webhooks:[ValidatingWebhook]@name\n\
ValidatingAdmissionPolicyBinding = kind:str apiVersion:str metadata:ObjectMeta \
    spec:ValidatingAdmissionPolicyBindingSpec\n\
FlowSchema = kind:str apiVersion:str metadata:ObjectMeta spec:FlowSchemaSpec status:FlowControlStatus\n\
PriorityLevelConfiguration = kind:str apiVersion:str metadata:ObjectMeta spec:PriorityLevelConfigurationSpec \
    status:FlowControlStatus\n\
IPAddress = kind:str apiVersion:str metadata:ObjectMeta spec:IPAddressSpec\n\
ServiceCIDR = kind:str apiVersion:str metadata:ObjectMeta spec:ServiceCIDRSpec status:ServiceCIDRStatus\n\
APIService = kind:str apiVersion:str metadata:ObjectMeta spec:APIServiceSpec status:APIServiceStatus\n\
CSIStorageCapacity = kind:str apiVersion:str metadata:ObjectMeta nodeTopology:LabelSelector* storageClassName:str! \
    capacity:quantity* maximumVolumeSize:quantity*\n\
VolumeAttributesClass = kind:str apiVersion:str metadata:ObjectMeta driverName:str! parameters:{str}\n\
CustomResourceDefinition = kind:str apiVersion:str metadata:ObjectMeta spec:CustomResourceDefinitionSpec! \
    status:CustomResourceDefinitionStatus\n\
CustomResourceDefinitionSpec = group:str! names:CustomResourceDefinitionNames! scope:str! versions:[any]! \
    conversion:CustomResourceConversion* preserveUnknownFields:bool\n\
CustomResourceConversion = strategy:str! webhook:WebhookConversion*\n\
WebhookConversion = clientConfig:WebhookClientConfig* conversionReviewVersions:[str]!\n\
CustomResourceDefinitionNames = plural:str! singular:str shortNames:[str] kind:str! listKind:str categories:[str]\n\
CustomResourceDefinitionStatus = conditions:[NamespaceCondition]! acceptedNames:CustomResourceDefinitionNames! \
    storedVersions:[str]!\n\
MutatingWebhook = name:str! clientConfig:WebhookClientConfig! rules:[RuleWithOperations] failurePolicy:str* \
    matchPolicy:str* namespaceSelector:LabelSelector* objectSelector:LabelSelector* sideEffects:str* \
    timeoutSeconds:int32* admissionReviewVersions:[str]! reinvocationPolicy:str* \
    matchConditions:[MatchCondition]@name\n\
ValidatingWebhook = name:str! clientConfig:WebhookClientConfig! rules:[RuleWithOperations] failurePolicy:str* \
    matchPolicy:str* namespaceSelector:LabelSelector* objectSelector:LabelSelector* sideEffects:str* \
    timeoutSeconds:int32* admissionReviewVersions:[str]! matchConditions:[MatchCondition]@name\n\
WebhookClientConfig = url:str* service:WebhookServiceReference* caBundle:bytes\n\
WebhookServiceReference = namespace:str! name:str! path:str* port:int32*\n\
RuleWithOperations = operations:[str] apiGroups:[str] apiVersions:[str] resources:[str] scope:str*\n\
MatchCondition = name:str! expression:str!\n\
ValidatingAdmissionPolicyBindingSpec = policyName:str paramRef:ParamRef* matchResources:MatchResources* \
    validationActions:[str]\n\
ParamRef = name:str namespace:str selector:LabelSelector* parameterNotFoundAction:str*\n\
MatchResources = namespaceSelector:LabelSelector* objectSelector:LabelSelector* resourceRules:[any] \
    excludeResourceRules:[any] matchPolicy:str*\n\
FlowSchemaSpec = priorityLevelConfiguration:PriorityLevelConfigurationReference! matchingPrecedence:int32! \
    distinguisherMethod:FlowDistinguisherMethod* rules:[any]\n\
PriorityLevelConfigurationReference = name:str!\n\
FlowDistinguisherMethod = type:str!\n\
FlowControlStatus = conditions:[FlowControlCondition]@type\n\
FlowControlCondition = type:str status:str lastTransitionTime:time reason:str message:str\n\
PriorityLevelConfigurationSpec = type:str! limited:LimitedPriorityLevelConfiguration* \
    exempt:ExemptPriorityLevelConfiguration*\n\
LimitedPriorityLevelConfiguration = nominalConcurrencyShares:int32* limitResponse:LimitResponse \
    lendablePercent:int32* borrowingLimitPercent:int32*\n\
ExemptPriorityLevelConfiguration = nominalConcurrencyShares:int32* lendablePercent:int32*\n\
LimitResponse = type:str! queuing:QueuingConfiguration*\n\
QueuingConfiguration = queues:int32! handSize:int32! queueLengthLimit:int32!\n\
IPAddressSpec = parentRef:ParentReference*\n\
ParentReference = group:str resource:str namespace:str name:str\n\
ServiceCIDRSpec = cidrs:[str]\n\
ServiceCIDRStatus = conditions:[Condition]@type\n\
APIServiceSpec = service:ServiceReference* group:str version:str insecureSkipTLSVerify:bool caBundle:bytes \
    groupPriorityMinimum:int32! versionPriority:int32!\n\
ServiceReference = namespace:str name:str port:int32*\n\
APIServiceStatus = conditions:[NamespaceCondition]@type\n\
";
