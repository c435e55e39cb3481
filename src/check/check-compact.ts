/**
 * Is a large history at a level? Near-linear algorithms over columns of numbers, for the levels up to causal, and a search with limits for
 * those above (`strong/`); the answers are those of `check` and carry evidence that the small checker makes from a part of the history.
 */
import { monotonicMs, TimeLimit, within } from '../base/index.ts';
import { type CompactHistory, statusCode } from '../history/index.ts';
import { nameCycle } from '../isolation/index.ts';
import { causalEdges, type CausalOptions } from './causal.ts';
import { commitOrder, type OrderProblem } from './commit-order.ts';
import { shortCycle } from './cycle.ts';
import { violatedByCycle, violatedByRead } from './evidence.ts';
import type { ForcedEdges } from './forced-edges.ts';
import { findIn, named } from './name-violation.ts';
import { readAtomicEdges } from './read-atomic.ts';
import { readCommittedEdges } from './read-committed.ts';
import { type Reads, readsOf } from './reads.ts';
import { sessionOrder } from './session-order.ts';
import { checkStrong, type StrongOptions } from './strong/check-strong.ts';
import { checkRepeatedValues, type RepeatedSearchOptions } from './strong/repeated-values.ts';
import { strongEvidence } from './strong/explain-strong.ts';
import { orderProof } from './strong/order-proof.ts';
import type { StrongLevel } from './strong/nodes.ts';
import type { CompactLevel, CompactVerdict } from './verdict.ts';

export interface CompactCheckOptions extends CausalOptions, Omit<StrongOptions, 'limit'>, RepeatedSearchOptions {
  /** Milliseconds, after which the level is unknown. Four fifths are for the answer, the rest for evidence. Default: no limit. */
  readonly timeoutMs?: number;
  /** From `readsOf`, where several levels are checked. */
  readonly reads?: Reads;
  /** `forbidden` (default) at read-committed and up. `ignored`: the history is judged as if these reads were not in it. */
  readonly thinAirReads?: 'forbidden' | 'ignored';
}

/**
 * Cost, for n operations and k sessions: read-committed and read-atomic O(n^1.5 log n), near linear in practice; causal O(n k).
 */
export function checkCompact(
  history: CompactHistory,
  level: CompactLevel,
  options: CompactCheckOptions = {},
): CompactVerdict {
  const { timeoutMs = Infinity } = options;
  const startMs = monotonicMs();
  const limits: Limits = {
    names: 'of-all',
    limit: new TimeLimit(startMs + timeoutMs * answerShare),
    evidenceLimit: new TimeLimit(startMs + timeoutMs),
  };
  return within(() => checkWithin(history, level, { ...options, ...limits }), {
    kind: 'unknown',
    reason: 'time-limit',
  });
}

const answerShare = 0.8;

interface Limits {
  /** Is the name sought among all violations, or is that of the first one enough? */
  readonly names: 'of-all' | 'of-one';
  readonly limit: TimeLimit;
  readonly evidenceLimit: TimeLimit;
}

type LimitedOptions = Omit<CompactCheckOptions, 'reads'> & Limits & { readonly reads?: Reads | undefined };

function checkWithin(history: CompactHistory, level: CompactLevel, options: LimitedOptions): CompactVerdict {
  if (history.lists !== null) return { kind: 'unknown', reason: 'not-searched' };
  options.limit.checkNow();
  const reads = options.reads ?? readsOf(history);
  if (reads.firstAmbiguous >= 0 && level !== 'read-uncommitted')
    return checkRepeatedValues(
      history,
      level,
      (resolved, sources) => checkResolved(resolved, level, sources, { ...options, names: 'of-one' }),
      options,
    );
  return checkResolved(history, level, reads, options);
}

/** Of a history in which it is known which write each read saw. */
function checkResolved(
  history: CompactHistory,
  level: CompactLevel,
  reads: Reads,
  options: LimitedOptions,
): CompactVerdict {
  const { evidenceLimit } = options;
  const problem: OrderProblem = { history, reads, sessions: null, forced: null, evidenceLimit };
  const anomalous = firstAnomalous(reads, options);
  if (level !== 'read-uncommitted' && anomalous !== undefined) return violatedByRead(problem, anomalous);
  const verdict = checkOrder(problem, level, options);
  if (verdict.kind !== 'violated' || options.names === 'of-one' || level === 'pl-2') return verdict;
  const ofOne: LimitedOptions = { ...options, reads: undefined, names: 'of-one', limit: evidenceLimit };
  const find = (part: CompactHistory) => findIn(checkWithin(part, level, ofOne));
  return within(() => named(problem, level, verdict, find, evidenceLimit), verdict);
}

/** Of a history in which each read by itself can be explained. */
function checkOrder(problem: OrderProblem, level: CompactLevel, options: LimitedOptions): CompactVerdict {
  const { history, reads } = problem;
  switch (level) {
    case 'read-uncommitted':
      return { kind: 'satisfied', commitOrder: committedInOrder(history) };
    case 'pl-2':
      // No version order follows from reads of registers: any that follows wr will do, so G0 and G1c are cycles of wr.
      return ordered(problem, level);
    case 'read-committed':
      return ordered(withSessions(problem, readCommittedEdges(history, reads)), level);
    case 'read-atomic': {
      const sessions = sessionOrder(history, reads);
      return ordered({ ...problem, sessions, forced: readAtomicEdges(history, reads, sessions) }, level);
    }
    case 'causal':
      return causal(problem, options);
    case 'prefix':
    case 'snapshot-isolation':
    case 'serializable':
    case 'strict-serializable':
      return strong(problem, level, options);
  }
}

/** In the order of the catalogue of anomalies. */
function firstAnomalous(
  { anomalous }: Reads,
  { thinAirReads = 'forbidden' }: Pick<CompactCheckOptions, 'thinAirReads'>,
) {
  const kinds = ['thin-air-read', 'internal', 'G1a', 'G1b'] as const;
  const forbidden = kinds.slice(thinAirReads === 'forbidden' ? 0 : 1);
  return forbidden.map((kind) => anomalous.find((read) => read.kind === kind)).find((read) => read !== undefined);
}

/** In the order of the history. What no transaction read binds none, so of unknown fate none counts at read-uncommitted. */
function committedInOrder({ status }: CompactHistory): Int32Array {
  const committed = new Int32Array(status.length);
  let count = 0;
  status.forEach((code, t) => {
    if (code !== statusCode.committed) return;
    committed[count] = t;
    count += 1;
  });
  return committed.subarray(0, count);
}

function withSessions(problem: OrderProblem, forced: ForcedEdges | null): OrderProblem {
  return { ...problem, sessions: sessionOrder(problem.history, problem.reads), forced };
}

/** With clocks only where so and wr are acyclic; where they are not, that is the violation. */
function causal(problem: OrderProblem, options: CausalOptions): CompactVerdict {
  const sessions = sessionOrder(problem.history, problem.reads);
  const base = { ...problem, sessions };
  const verdict = ordered(base, 'causal');
  if (verdict.kind !== 'satisfied') return verdict;
  const forced = causalEdges(problem.history, problem.reads, sessions, verdict.commitOrder, options);
  return forced.count === 0 ? verdict : ordered({ ...base, forced }, 'causal');
}

/** Evidence is sought at causal first: what violates that is shorter. */
function strong(problem: OrderProblem, level: StrongLevel, options: LimitedOptions): CompactVerdict {
  const { history, reads } = problem;
  const base = withSessions(problem, null);
  const order = commitOrder(base);
  if (base.sessions === null || order.length < base.sessions.member.length) return ordered(base, 'causal');
  const outcome = checkStrong(history, reads, base.sessions, order, level, options);
  if (outcome.kind !== 'violated') return outcome;
  const weaker = causal(problem, options);
  if (weaker.kind === 'violated') return weaker;
  const evidence = within(() => strongEvidence(problem, level, outcome.problem, options.evidenceLimit), null);
  if (evidence !== null) return { kind: 'violated', anomaly: evidence.verdict.anomaly, cycle: [], evidence };
  const contradiction = outcome.problem;
  const { evidenceLimit } = options;
  const proof = contradiction === null ? null : within(() => orderProof(problem, contradiction, evidenceLimit), null);
  if (proof === null) return { kind: 'violated', anomaly: 'G2-item', cycle: [], evidence };
  return { kind: 'violated', anomaly: nameCycle(proof.cycle), cycle: [], evidence, proof };
}

function ordered(problem: OrderProblem, level: CompactLevel): CompactVerdict {
  const memberCount = problem.reads.isMember.reduce((sum, is) => sum + is, 0);
  const order = (problem.forced?.toInitial ?? -1) >= 0 ? new Int32Array() : commitOrder(problem);
  if (order.length === memberCount && (problem.forced?.toInitial ?? -1) < 0)
    return { kind: 'satisfied', commitOrder: order };
  return violatedByCycle(problem, level, shortCycle(problem, order));
}
