"""Tests of whether an attention is faithful: experiments on its weights, each compared with random explanations."""

from forecast_attn.audit.audit_results import Audit
from forecast_attn.audit.run import audit_run
from forecast_attn.audit.verdict import AuditListener, AuditPlan, audit_attention

__all__ = ["Audit", "AuditListener", "AuditPlan", "audit_attention", "audit_run"]
