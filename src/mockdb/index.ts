export { AxiomaticCore, type AxiomaticTransaction, historyOf, visibleOf } from './axiomatic-core.ts';
export {
  drawing,
  enumerating,
  following,
  keepingOrder,
  readPointKey,
  retracing,
  serial,
  type Decisions,
  type DecisionsOptions,
  type ReadChoice,
  type ReadPoint,
} from './decisions.ts';
export {
  type Attempt,
  mockDatabase,
  MockDatabase,
  type MockDatabaseOptions,
  type MockTransaction,
} from './mock-database.ts';
export { strategies, strategyNames, type Strategy, type StrategyName, type Version } from './strategy.ts';
