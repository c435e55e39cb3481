export {
  commitTest,
  commitTestOf,
  type CommitTestOptions,
  type CommitTestVerdict,
  type JudgedExecution,
  type JudgedTransaction,
  type Obstacle,
} from './commit-test.ts';
export { commitTests } from './commit-tests.ts';
export {
  complete,
  effects,
  type Execution,
  executionOf,
  executions,
  initialState,
  noConf,
  preread,
  readStates,
  type State,
  type StatePosition,
} from './execution.ts';
export { explainCommitTest, explainFailures, summarizeCommitTest } from './explain.ts';
export type { Failure } from './failures.ts';
export {
  commitTestLevels,
  commitTestTable,
  type CommitTestInfo,
  type CommitTestLevel,
  parseCommitTestLevel,
  type TimelessLevel,
} from './level.ts';
export type { ObservedTransaction, ObservedTransactions } from './observed.ts';
export { referenceCommitTest, type ReferenceCommitVerdict } from './reference.ts';
