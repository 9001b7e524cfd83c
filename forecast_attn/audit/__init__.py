"""Tests of whether an attention is faithful: experiments on its weights, each compared with random explanations."""

from forecast_attn.audit.audit import AuditListener, AuditPlan, audit_attention
from forecast_attn.audit.results import Audit
from forecast_attn.audit.run import audit_run

__all__ = ["Audit", "AuditListener", "AuditPlan", "audit_attention", "audit_run"]
