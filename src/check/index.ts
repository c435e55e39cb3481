export { certifyCommitOrder, type CertifiedLevel } from './certify-order.ts';
export {
  checkerOf,
  type Checker,
  checkHistory,
  type CheckOptions,
  strongestLevelOf,
  type WeakestViolation,
  weakestViolationOf,
} from './check.ts';
export { checkCompact, type CompactCheckOptions } from './check-compact.ts';
export { evidenceTransactionsMax } from './evidence.ts';
export { checkInTurn, concludedLevels, type LevelAnswer, type LevelsOrder } from './levels-in-turn.ts';
export { levelCheckerOf, type LevelChecker, type SizedHistory } from './level-checker.ts';
export { verdictInWhole } from './part-evidence.ts';
export { readsOf, type Reads } from './reads.ts';
export type { CompactLevel, CompactVerdict, CompactViolated, Evidence } from './verdict.ts';
export {
  ListCheck,
  transactionsIn,
  type ListAnomaly,
  type ListVerdict,
  type ListViolated,
} from './list-append/check-lists.ts';
export type { ListEdge } from './list-append/cycle-anomalies.ts';
