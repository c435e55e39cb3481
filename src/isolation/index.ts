export {
  anomalies,
  cycleAnomalies,
  nameCycle,
  readAnomalies,
  type Anomaly,
  type AnomalyName,
  type CycleAnomaly,
  type CycleAnomalyName,
  type CycleFacts,
  type ReadAnomalyName,
} from './anomaly.ts';
export { certify } from './certify.ts';
export { check, strongestLevel, weakestViolation, type CheckOptions } from './check.ts';
export { CommitOrders } from './commit-orders.ts';
export { constrainingLevels, type ConstrainingLevel } from './observations.ts';
export { satisfies } from './definition.ts';
export type { Edge, EdgeRelation } from './dependency-cycle.ts';
export { exampleOf, explain, explainChoice, explainNoViolation, summarize } from './explain.ts';
export {
  isolationLevels,
  isStrongerOrEqual,
  parseLevel,
  type IsolationLevel,
  type LevelOf,
  type Levels,
} from './level.ts';
export { referenceCheck, type ReferenceOptions, type ReferenceVerdict } from './reference.ts';
export { type Cases, type Reason, type Refutation, type Step, transactionsOfRefutation } from './refutation.ts';
export { mapPlaces, type Places } from './map-places.ts';
export type { ChosenWriter, RefutedChoice, Verdict, Violated } from './verdict.ts';
export { type Nogood, chooseAvoiding } from './nogoods.ts';
export { writersInRecordedOrder } from './recorded-order.ts';
