import { describe, expect, test } from 'vitest';
import { type Chooser, forEveryChoice, seeded } from '../base/index.ts';
import { formatHistory, type History, INITIAL, parseHistory } from '../history/index.ts';
import { type AnomalyName, anomalies, exampleOf, nameCycle } from './anomaly.ts';
import { certify } from './certify.ts';
import { check } from './check.ts';
import { satisfies } from './definition.ts';
import { type IsolationLevel, isolationLevels } from './level.ts';
import { referenceCheck } from './reference.ts';
import type { Refutation, Step } from './refutation.ts';
import { smallHistory } from './small-history.test-support.ts';
import type { Verdict, Violated } from './verdict.ts';

const sizes = { transactionsMin: 2, transactionsMax: 4, operationsMax: 3, keysMax: 2 };
const lostUpdate = parseHistory('r x _, w x 1 \n r x _, w x 2');
const needsCases = parseHistory(
  'r y _, w x 1 \n r x _, w y 2 \n r x _, w y 3 \n r y 3, w x 4 \n r y _, w x 5 \n w x 6',
);

describe('a commit order', () => {
  test('is certified exactly where the definition accepts it', () => {
    const accepted = { yes: 0, no: 0 };
    forEveryChoice((chooser) => {
      const history = smallHistory(chooser, { transactionsMax: 2, operationsMax: 2, keysMax: 2 });
      for (const order of history.transactions.length === 1
        ? [[0]]
        : [
            [0, 1],
            [1, 0],
          ]) {
        const verdict: Verdict = { kind: 'satisfied', commitOrder: order };
        const answer = satisfies(history, order, 'serializable');
        if (certify(history, 'serializable', verdict) !== answer)
          expect.fail(`${order.join()}\n${formatHistory(history)}`);
        accepted[answer ? 'yes' : 'no'] += 1;
      }
    });
    expect(Math.min(accepted.yes, accepted.no)).toBeGreaterThan(100);
  });

  test.each([[[]], [[0]], [[0, 0]], [[0, 1, 1]], [[0, 2]], [[INITIAL, 0, 1]]])(
    'of other transactions, %j, is refused',
    (commitOrder) => {
      expect(certify(parseHistory('w x 1 \n w y 1'), 'causal', { kind: 'satisfied', commitOrder })).toBe(false);
    },
  );
});

describe('evidence of a violation', () => {
  test('is certified at every level that is as strong', () => {
    const verdict = violation(lostUpdate, 'snapshot-isolation');
    const certified = isolationLevels.filter((level) => certify(lostUpdate, level, verdict));
    expect(certified).toEqual(['snapshot-isolation', 'serializable', 'strict-serializable']);
  });

  test('by real time is none at the levels that ignore it', () => {
    const history = exampleOf(anomalies['real-time-violation']);
    const verdict = violation(history, 'strict-serializable');
    const certified = isolationLevels.filter((level) => certify(history, level, verdict));
    expect(certified).toEqual(['strict-serializable']);
  });

  test('proves nothing of a history that is not violated, however it is changed', () => {
    const outcomes = { refused: 0, accepted: 0 };
    for (let seed = 0; seed < 400; seed += 1) {
      const chooser = seeded(seed);
      const [history, other] = [smallHistory(chooser, sizes), smallHistory(chooser, sizes)];
      for (const level of isolationLevels.slice(1, 7)) {
        const verdict = check(history, level);
        if (verdict.kind !== 'violated') continue;
        const changed = mutated(verdict, chooser);
        for (const target of [history, other]) {
          const accepted = certify(target, level, changed);
          outcomes[accepted ? 'accepted' : 'refused'] += 1;
          if (!accepted || referenceCheck(target, level).kind === 'violated') continue;
          expect.fail(`${level}, ${JSON.stringify(changed)}:\n${formatHistory(target)}`);
        }
      }
    }
    expect(outcomes.refused).toBeGreaterThan(outcomes.accepted);
  });

  const histories: [string, History, IsolationLevel][] = [
    ['lost update', lostUpdate, 'snapshot-isolation'],
    ['long fork', parseHistory('w x 1 \n w y 1 \n r x 1, r y _ \n r x _, r y 1'), 'prefix'],
    ['write skew', parseHistory('r x _, r y _, w x 1 \n r x _, r y _, w y 1'), 'serializable'],
    ['a contradiction in cases', needsCases, 'snapshot-isolation'],
  ];

  test.each(histories)('is refused without the step that closes a cycle: %s', (_name, history, level) => {
    const verdict = violation(history, level);
    const cut = mapLeaves(verdict.refutation as Refutation, (steps) => steps.slice(0, -1));
    expect(certify(history, level, { ...verdict, refutation: cut })).toBe(false);
  });

  test.each(histories)('is refused without any proof, cycle or with another name: %s', (_name, history, level) => {
    const verdict = violation(history, level);
    const { refutation: _, ...unproven } = verdict;
    expect(certify(history, level, unproven)).toBe(false);
    expect(certify(history, level, { ...verdict, cycle: [] })).toBe(false);
    expect(certify(history, level, { ...verdict, cycle: verdict.cycle.slice(1) })).toBe(false);
    const names = (Object.keys(anomalies) as AnomalyName[]).filter((anomaly) =>
      certify(history, level, { ...verdict, anomaly }),
    );
    expect(names).toEqual([verdict.anomaly]);
  });

  test.each(histories)(
    'is refused with any one edge of its cycle turned or led astray: %s',
    (_name, history, level) => {
      const verdict = violation(history, level);
      verdict.cycle.forEach((edge, at) => {
        const changes = [
          { ...edge, from: edge.to, to: edge.from },
          { ...edge, to: edge.from },
          { ...edge, key: 'q' },
          { ...edge, operation: 17 },
        ];
        for (const change of changes.slice(0, edge.relation === 'ww' ? 3 : edge.relation === 'so' ? 2 : 4)) {
          const cycle = verdict.cycle.with(at, change);
          expect([change, certify(history, level, { ...verdict, cycle })]).toEqual([change, false]);
        }
      });
    },
  );

  test('is refused where its last cycle has pairs that nothing shows', () => {
    const history = parseHistory('w x 1 \n w y 1 \n r x 1, r y _ \n r x _, r y 1');
    const verdict = violation(history, 'prefix');
    const { steps } = verdict.refutation as Refutation;
    const last = steps.at(-1) as Step;
    const certified = history.transactions.map((_, t) => {
      const cycle = [last, { ...last, from: last.to, to: t }, { ...last, from: t, to: last.from }];
      return certify(history, 'prefix', { ...verdict, refutation: { steps, end: { kind: 'cycle', cycle } } });
    });
    expect(certified).toContain(false);
  });

  test('is refused where an axiom puts the writer before another transaction than the one that was read from', () => {
    const history = parseHistory('w z 1 | w x 1 | w x 2 \n r x 2');
    const read = { by: 3, operation: 0, key: 'x', from: 2 };
    const last: Step = { from: 1, to: 0, why: { rule: 'axiom', read, writer: 1 } };
    const first: Step = { from: 0, to: 1, why: { rule: 'so' } };
    const cycle = [
      { from: 0, to: 1, relation: 'so' },
      { from: 1, to: 0, relation: 'co' },
    ] as const;
    const refutation: Refutation = { steps: [first, last], end: { kind: 'cycle', cycle: [last, first] } };
    const verdict: Violated = { kind: 'violated', anomaly: nameCycle(cycle), cycle, refutation };
    expect(certify(history, 'causal', verdict)).toBe(false);
  });

  test('in cases is refused where one case is missing, or the cases are not opposites', () => {
    const verdict = violation(needsCases, 'snapshot-isolation');
    const { steps, end } = verdict.refutation as Refutation;
    if (end.kind !== 'cases') throw new Error('it needs cases');
    const certified = (changed: Refutation['end']): boolean =>
      certify(needsCases, 'snapshot-isolation', { ...verdict, refutation: { steps, end: changed } });
    expect(certified(end)).toBe(true);
    expect(certified({ ...end, after: end.before })).toBe(false);
    expect(certified({ ...end, after: { steps: end.after.steps.slice(1), end: end.after.end } })).toBe(false);
    expect(certified({ ...end, second: end.first })).toBe(false);
    expect(certified({ kind: 'cycle', cycle: [] })).toBe(false);
  });
});

describe('a read as evidence', () => {
  const history = parseHistory('w x 1, w y 1 ! \n r x 1');
  const verdict = violation(history, 'read-committed');
  const read = verdict.read!;

  test('is certified as it is, at read-committed and up', () => {
    expect(isolationLevels.filter((level) => certify(history, level, verdict))).toEqual(isolationLevels.slice(1));
  });

  test.each([
    ['another kind', { ...verdict, anomaly: 'G1b', read: { ...read, kind: 'G1b' } }],
    ['a name that is not its kind', { ...verdict, anomaly: 'internal' }],
    ['another reader', { ...verdict, read: { ...read, by: 0 } }],
    ['another writer', { ...verdict, read: { ...read, from: INITIAL } }],
    ['another key', { ...verdict, read: { ...read, key: 'y' } }],
    ['another place', { ...verdict, read: { ...read, operation: 1 } }],
  ] as [string, Violated][])('is refused with %s', (_name, changed) => {
    expect(certify(history, 'serializable', changed)).toBe(false);
  });

  test('is refused where what aborted transactions read is no evidence', () => {
    const aborted = parseHistory('w x 1 ! \n r x 1 !');
    const found = violation(aborted, 'causal', { abortedReads: 'constrained' });
    expect(certify(aborted, 'causal', found, { abortedReads: 'constrained' })).toBe(true);
    expect(certify(aborted, 'causal', found)).toBe(false);
  });
});

test('an unknown verdict claims nothing and is certified', () => {
  expect(certify(lostUpdate, 'serializable', { kind: 'unknown', reason: 'step-limit' })).toBe(true);
});

function violation(history: History, level: IsolationLevel, options: Parameters<typeof check>[2] = {}): Violated {
  const verdict = check(history, level, options);
  if (verdict.kind !== 'violated') throw new Error(`${level} is not violated by\n${formatHistory(history)}`);
  return verdict;
}

/** The evidence with one thing changed: a step dropped, moved, or led elsewhere; a wrong read. */
function mutated(verdict: Violated, chooser: Chooser): Violated {
  if (verdict.read !== undefined)
    return { ...verdict, read: { ...verdict.read, by: chooser.choose(4), operation: chooser.choose(3) } };
  return {
    ...verdict,
    refutation: mapLeaves(verdict.refutation as Refutation, (steps) => mutatedSteps(steps, chooser)),
  };
}

function mutatedSteps(steps: readonly Step[], chooser: Chooser): readonly Step[] {
  const [at, other] = [chooser.choose(steps.length), chooser.choose(steps.length)];
  const [step, swapped] = [steps[at] as Step, steps[other] as Step];
  const t = chooser.choose(4) - 1;
  switch (chooser.choose(5)) {
    case 0:
      return steps.toSpliced(at, 1);
    case 1:
      return steps.with(at, swapped).with(other, step);
    case 2:
      return steps.with(at, { ...step, from: t });
    case 3:
      return steps.with(at, { ...step, to: t });
    default:
      return steps.with(at, { ...step, why: swapped.why });
  }
}

function mapLeaves({ steps, end }: Refutation, change: (steps: readonly Step[]) => readonly Step[]): Refutation {
  if (end.kind === 'cycle') return { steps: change(steps), end };
  return { steps, end: { ...end, before: mapLeaves(end.before, change), after: mapLeaves(end.after, change) } };
}
