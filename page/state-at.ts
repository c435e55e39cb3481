/** What is committed at a step of a run, and what each session has seen by then: pure functions of the picture. */
import type { PictureStep, RunPicture } from '../src/report/index.ts';

type Value = PictureStep['writes'][number]['value'];

/** What one session knows of a key. */
export interface Seen {
  readonly value: Value;
  /** Did its own open transaction write it? */
  readonly isUncommitted: boolean;
  /** Is something else committed by now? */
  readonly isOutdated: boolean;
}

export interface KeyState {
  readonly key: string;
  readonly committed: Value;
  /** Did the step change what is committed? */
  readonly isChanged: boolean;
  /** By session; `null`: it has not seen the key. */
  readonly seen: readonly (Seen | null)[];
}

interface Known {
  readonly value: Value;
  readonly isUncommitted: boolean;
}

/** After the step `at`; -1: before the first. Keys that conditions ask for are left out: they are no rows. */
export function stateAt(run: RunPicture, at: number): KeyState[] {
  const committed = new Map<string, Value>(run.initial);
  const known = run.sessions.map(() => new Map<string, Known>());
  const written = new Map<number, Map<string, Value>>();
  let changed = new Set<string>();
  run.steps.slice(0, at + 1).forEach((step) => {
    changed = new Set();
    const own = known[step.session];
    for (const { key, value } of step.reads)
      own?.set(key, { value, isUncommitted: own.get(key)?.isUncommitted ?? false });
    for (const { key, value } of step.writes) {
      own?.set(key, { value, isUncommitted: true });
      written.set(step.transaction, (written.get(step.transaction) ?? new Map<string, Value>()).set(key, value));
    }
    if (step.ends === null) return;
    for (const [key, value] of written.get(step.transaction) ?? []) {
      if (step.ends === 'committed') {
        committed.set(key, value);
        changed.add(key);
        own?.set(key, { value, isUncommitted: false });
      } else own?.delete(key);
    }
  });
  return keysOf(run).map((key) => {
    const value = committed.get(key) ?? null;
    return {
      key,
      committed: value,
      isChanged: changed.has(key),
      seen: known.map((own) => {
        const each = own.get(key);
        return each === undefined ? null : { ...each, isOutdated: !each.isUncommitted && !isSame(each.value, value) };
      }),
    };
  });
}

/** The variables after the step `at`, of a run without transactions. */
export function valuesAt(
  { initial, steps }: RunPicture,
  at: number,
): { readonly key: string; readonly value: Value; readonly isChanged: boolean }[] {
  const values = new Map<string, Value>(initial);
  for (const { writes } of steps.slice(0, at + 1)) for (const { key, value } of writes) values.set(key, value);
  const changed = new Set(steps[at]?.writes.map(({ key }) => key));
  return [...values].map(([key, value]) => ({ key, value, isChanged: changed.has(key) }));
}

/** The steps of other transactions that overwrote what this one read. */
export function overwritersOf(run: RunPicture, at: number): ReadonlySet<number> {
  const { reads = [], transaction: reader = -1 } = run.steps[at] ?? {};
  const found = reads
    .filter(({ sight }) => sight !== 'own')
    .flatMap(({ key, writer }) =>
      run.steps.flatMap(({ writes, transaction }, i) => {
        const isLater = i > (writer ?? -1) && transaction !== reader;
        return isLater && writes.some((write) => write.key === key) ? [i] : [];
      }),
    );
  return new Set(found);
}

/** The steps that wrote what this one read. */
export function writersOf(run: RunPicture, at: number): ReadonlySet<number> {
  const reads = run.steps[at]?.reads ?? [];
  return new Set(reads.flatMap(({ writer, sight }) => (writer === null || sight === 'own' ? [] : [writer])));
}

/** In the order in which the run comes to them. */
function keysOf({ initial, steps }: RunPicture): string[] {
  const touched = steps.flatMap(({ reads, writes }) => [...reads, ...writes].map(({ key }) => key));
  return [...new Set([...initial.map(([key]) => key), ...touched])].filter((key) => !key.includes(' where '));
}

function isSame(a: Value, b: Value): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
