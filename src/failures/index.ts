export {
  failureName,
  formatFailureRecord,
  parseFailureRecord,
  type FailureRecord,
  type RecordedOptions,
} from './failure-record.ts';
