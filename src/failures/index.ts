export {
  failureName,
  fileStem,
  formatFailureRecord,
  isNamedAfter,
  parseFailureRecord,
  type FailureRecord,
  type RecordedOptions,
} from './failure-record.ts';
