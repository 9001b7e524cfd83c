"""Is this attention faithful? Experiments on a network's weights, each beside what a random explanation scores."""

from forecast_attn.audit.audit import AuditListener, AuditOptions, AuditPlan, audit_attention
from forecast_attn.audit.findings import Audit

__all__ = ["Audit", "AuditListener", "AuditOptions", "AuditPlan", "audit_attention"]
