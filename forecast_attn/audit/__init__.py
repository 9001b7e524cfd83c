"""Tests of whether an attention is faithful: experiments on its weights, each compared with random explanations."""

from forecast_attn.audit.audit import AuditListener, AuditOptions, AuditPlan, audit_attention
from forecast_attn.audit.results import Audit
from forecast_attn.audit.run import audit_run, write_audit

__all__ = ["Audit", "AuditListener", "AuditOptions", "AuditPlan", "audit_attention", "audit_run", "write_audit"]
