/** From evidence to a verdict: the one place that says something green. */
import type { Evidence, Loss, SessionEvidence, UnsupportedStatement } from './evidence.ts';
import { failingStatements } from './failing-statements.ts';
import { invariantAssumed, tablesElsewhere } from './invariant-evidence.ts';
import { missedAssumed } from './missed-statements.ts';

/** A verdict: with what a green one takes for granted, or why there is none. */
export type Conclusion =
  | { readonly kind: 'satisfied'; readonly assumed: readonly string[] }
  | { readonly kind: 'violated' }
  | { readonly kind: 'unknown'; readonly gaps: readonly Gap[] }
  /** The program never used the store that it was given: whatever it did, it did elsewhere. */
  | { readonly kind: 'at-fault'; readonly code: string; readonly message: string };

/** Why nothing can be said. */
export type Gap =
  | { readonly kind: 'nothing-looked-at'; readonly clause: string }
  | { readonly kind: 'silent-session'; readonly session: string; readonly sent: 'statement' | 'operation' }
  | { readonly kind: 'failed-session'; readonly session: string; readonly failure: string }
  | { readonly kind: 'lost-session'; readonly session: string; readonly loss: Loss }
  | {
      readonly kind: 'failing-statement';
      /** `null`: the invariant. */
      readonly session: string | null;
      readonly statement: string;
      readonly failure: string;
    }
  | { readonly kind: 'found-nothing'; readonly session: string; readonly statement: string }
  | { readonly kind: 'invariant-elsewhere'; readonly tables: readonly string[] }
  | {
      readonly kind: 'never-overlapped';
      readonly sessions: readonly string[];
      /** Those that awaited another one, or something else beside the store. */
      readonly awaiting: readonly string[];
    }
  | { readonly kind: 'unsupported'; readonly statement: UnsupportedStatement }
  | { readonly kind: 'cut'; readonly clause: string };

/** The verdict on what a tool looked at. A violation counts also where something else is missing; `satisfied` needs that nothing is. */
export function conclude(evidence: Evidence): Conclusion {
  if (isUnused(evidence))
    return { kind: 'at-fault', code: 'program/store-unused', message: unusedText[evidence.store] };
  if (evidence.violations > 0) return { kind: 'violated' };
  const gaps = gapsOf(evidence);
  return gaps.length > 0 ? { kind: 'unknown', gaps } : satisfied(evidence);
}

function satisfied({ assumed, sessions, invariant }: Evidence): Conclusion {
  return {
    kind: 'satisfied',
    assumed: [...assumed, ...invariantAssumed(invariant), ...missedAssumed(sessions, invariant)],
  };
}

/** DESIGN section 5: satisfied, violated, unknown, and the user's program at fault. */
export function exitCodeOf(conclusion: Conclusion): 0 | 1 | 2 | 3 {
  switch (conclusion.kind) {
    case 'satisfied':
      return 0;
    case 'violated':
      return 1;
    case 'unknown':
      return 2;
    case 'at-fault':
      return 3;
  }
}

const unusedText: Record<Evidence['store'], string> = {
  keys: 'no session read or wrote anything: use the handle that the session is given',
  sql: 'no session sent a statement to moirai: connect with the connection that the session is given, not with a pool of your own',
};

/** Did a program run, and none of its sessions reach the store? */
function isUnused({ sessions }: Evidence): boolean {
  return sessions.some(({ runs }) => runs > 0) && sessions.every(({ operations }) => operations === 0);
}

function gapsOf({ looked, sessions, awaiting, invariant, unsupported, cut, store }: Evidence): Gap[] {
  const elsewhere = tablesElsewhere(invariant);
  return [
    ...looked
      .filter(({ count }) => count === 0)
      .map(({ nothing }): Gap => ({ kind: 'nothing-looked-at', clause: nothing })),
    ...sessions.flatMap((session) => sessionGaps(session, store)),
    ...failingStatements(sessions, invariant).map((failing): Gap => ({ kind: 'failing-statement', ...failing })),
    ...(elsewhere === null ? [] : [{ kind: 'invariant-elsewhere' as const, tables: elsewhere }]),
    ...overlapGaps(sessions, awaiting),
    ...unsupported.map((statement): Gap => ({ kind: 'unsupported', statement })),
    ...cut.map((clause): Gap => ({ kind: 'cut', clause })),
  ];
}

function sessionGaps(session: SessionEvidence, store: Evidence['store']): Gap[] {
  const { name, runs, operations, failedRuns, failure, lostRuns, loss, answers } = session;
  if (runs === 0) return [];
  if (operations === 0)
    return [{ kind: 'silent-session', session: name, sent: store === 'sql' ? 'statement' : 'operation' }];
  if (failedRuns === runs) return [{ kind: 'failed-session', session: name, failure: failure ?? 'an error' }];
  if (loss !== null && failedRuns + lostRuns === runs) return [{ kind: 'lost-session', session: name, loss }];
  if (answers.hasFound || answers.foundNone === null) return [];
  return [{ kind: 'found-nothing', session: name, statement: answers.foundNone }];
}

/** One session alone has nothing to overlap with. A silent one is a gap of its own. */
function overlapGaps(sessions: readonly SessionEvidence[], awaiting: readonly string[]): Gap[] {
  if (sessions.length < 2) return [];
  const alone = sessions.filter(({ overlapped, runs, operations }) => runs > 0 && operations > 0 && !overlapped);
  return alone.length === 0 ? [] : [{ kind: 'never-overlapped', sessions: alone.map(({ name }) => name), awaiting }];
}
