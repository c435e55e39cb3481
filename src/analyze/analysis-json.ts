import { conclude, conclusionJson } from '../evidence/index.ts';
import type { Analysis } from './analyze.ts';
import { changesText, changeText } from './changes.ts';

/** The `--json` shape of `moirai analyze`. @param files of the anomalies' programs; `null`: not written */
export function analysisJson(analysis: Analysis, files: readonly (string | null)[]): object {
  const { transactions, anomalies, notUnderstood, evidence } = analysis;
  return {
    ...conclusionJson(conclude(evidence)),
    transactions: transactions.map(({ name, place, level, isAutocommit, weakest, weakestChanged, changes }) => ({
      name,
      ...place,
      level: isAutocommit ? 'autocommit' : level,
      weakest,
      weakestChanged,
      change: changes.length === 0 ? null : changes.map(changeText).join('; '),
    })),
    anomalies: anomalies.map(({ name, status, transactions: names, statements, fix, isLeft }, at) => ({
      name,
      status: status.kind,
      transactions: names,
      statements: statements.map(({ place, sql }) => ({ ...place, sql })),
      left: isLeft,
      differs: status.kind === 'confirmed' ? status.anomaly : null,
      schedules: status.kind === 'confirmed' ? status.schedules : null,
      violations: status.kind === 'confirmed' ? status.violations : null,
      reason: status.kind === 'possible' ? status.reason : null,
      program: files[at] ?? null,
      fix:
        fix === null
          ? null
          : {
              text: changesText(fix.changes),
              holds: true,
              proven: fix.isProven,
              schedules: fix.schedules,
            },
    })),
    notUnderstood: notUnderstood.map(({ place, reason }) => ({ ...place, reason })),
  };
}
