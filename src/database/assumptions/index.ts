export {
  accessKey,
  type AssumedAccess,
  AssumedAccesses,
  assumedClauses,
  mergedAccesses,
  unlikelyClauses,
  wayOf,
  type Ways,
} from './assumed-accesses.ts';
export { openRowsIn } from './open-rows.ts';
export { mergedUnsupported, UnsupportedStatements } from './unsupported-statements.ts';
