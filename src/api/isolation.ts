/**
 * `moirai/isolation`: the isolation levels, their definition, and the catalogue of anomalies.
 *
 * The definition is that of Biswas and Enea, "On the Complexity of Checking Transactional Consistency" (OOPSLA 2019): a history satisfies a
 * level if some commit order of its transactions obeys the level's rule for every read. `satisfies` asks it of one order and `referenceCheck`
 * of all of them, which takes small histories; `moirai/check` decides histories of every size.
 *
 * @example
 * ```ts
 * import { anomalies, isolationLevels, isStrongerOrEqual, parseLevel, referenceCheck } from 'moirai/isolation';
 * import { parseHistory } from 'moirai/history';
 *
 * const writeSkew = parseHistory('r x _, r y _, w x 1\nr x _, r y _, w y 1');
 * const allowing = isolationLevels.filter((level) => referenceCheck(writeSkew, level).kind === 'satisfied');
 * console.log(allowing.at(-1), isStrongerOrEqual('serializable', parseLevel('causal')));
 * // prints: snapshot-isolation true
 * console.log(anomalies['write-skew'].title);
 * // prints: write skew
 * ```
 *
 * @example
 * ```ts
 * import { nameCycle, satisfies } from 'moirai/isolation';
 * import { parseHistory } from 'moirai/history';
 *
 * const stale = parseHistory('w x 1\nr x _');
 * console.log(satisfies(stale, [1, 0], 'serializable'), satisfies(stale, [0, 1], 'serializable'));
 * // prints: true false
 * const cycle = [
 *   { from: 0, to: 1, relation: 'rw', key: 'x' },
 *   { from: 1, to: 0, relation: 'rw', key: 'y' },
 * ] as const;
 * console.log(nameCycle(cycle));
 * // prints: write-skew
 * ```
 * @module
 */
export {
  anomalies,
  cycleAnomalies,
  isolationLevels,
  isStrongerOrEqual,
  nameCycle,
  parseLevel,
  readAnomalies,
  referenceCheck,
  satisfies,
  type Anomaly,
  type AnomalyName,
  type CycleAnomaly,
  type CycleAnomalyName,
  type CycleFacts,
  type IsolationLevel,
  type LevelOf,
  type Levels,
  type ReadAnomalyName,
  type ReferenceOptions,
  type ReferenceVerdict,
} from '../isolation/index.ts';
