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
  FAILURES_BEFORE_NEWEST,
  mockDatabase,
  MockDatabase,
  type MockDatabaseOptions,
  type MockTransaction,
} from './mock-database.ts';
export { strategies, strategyNames, type Strategy, type StrategyName, type Version } from './strategy.ts';
