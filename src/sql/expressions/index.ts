export { aggregateOf, isAggregate, type Aggregate, type AggregateState } from './aggregate-call.ts';
export {
  coerce,
  coerceToBoolean,
  commonNumber,
  commonType,
  isUntypedParameter,
  unify,
} from './coerce.ts';
export { unknownFunction } from './call.ts';
export { functionTable } from './functions.ts';
export { typeOfNode } from './compile-cast.ts';
export { compileExpression, constrained } from './compile.ts';
export { isSetReturning } from './function-names.ts';
export { setReturning, type SetReturning } from './set-returning.ts';
export { isTemporal, isTextual } from './mysql-values.ts';
export { isCutMoment } from './mysql-moments.ts';
export { userVariableSetter } from './mysql-variables.ts';
export { commonSecondDigits } from './second-digits.ts';
export { unknownSetting } from './session-functions.ts';
export { applyOperator } from './apply-operator.ts';
export { once, oneRow } from './subquery-rows.ts';
export { chargeRows } from './value-bytes.ts';
export { valuesReader } from './values-reader.ts';
