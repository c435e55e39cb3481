export { aggregateOf, isAggregate, type Aggregate, type AggregateState } from './aggregate-call.ts';
export {
  coerce,
  coerceToBoolean,
  commonType,
  unify,
} from './coerce.ts';
export { typeOfNode } from './compile-cast.ts';
export { compileExpression } from './compile.ts';
export { setReturning, type SetReturning } from './set-returning.ts';
export { isTemporal, isTextual } from './mysql-values.ts';
