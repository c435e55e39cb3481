export { certifyCommitOrder, type CertifiedLevel } from './certify-order.ts';
export { checkCompact, type CompactCheckOptions } from './check-compact.ts';
export { readsOf, refuseThinAir, type Reads } from './reads.ts';
export type { CompactLevel, CompactVerdict, CompactViolated, Evidence } from './verdict.ts';
