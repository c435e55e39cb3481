import { conclude, conclusionJson } from '../evidence/index.ts';
import type { Analysis } from './analyze.ts';
import type { Anomaly } from './anomaly.ts';
import { changesOfTransaction, changesText } from './changes.ts';

/** The `--json` shape of `moirai analyze`. @param files of the programs of the anomalies, then of those of units; `null`: not written */
export function analysisJson(analysis: Analysis, files: readonly (string | null)[]): object {
  const { transactions, anomalies, unitAnomalies, notUnderstood, evidence } = analysis;
  return {
    ...conclusionJson(conclude(evidence)),
    transactions: transactions.map(({ name, place, level, isAutocommit, weakest, weakestChanged, changes }) => ({
      name,
      ...place,
      level: isAutocommit ? 'autocommit' : level,
      weakest,
      weakestChanged,
      change: changes.length === 0 ? null : changesOfTransaction(changes),
    })),
    anomalies: anomalies.map((anomaly, at) => ({
      name: anomaly.name,
      transactions: anomaly.transactions,
      alike: anomaly.alike,
      left: anomaly.isLeft,
      ...foundJson(anomaly, files[at] ?? null),
    })),
    unitAnomalies: unitAnomalies.map((anomaly, at) => ({
      name: anomaly.name,
      units: anomaly.transactions,
      ...foundJson(anomaly, files[anomalies.length + at] ?? null),
    })),
    notUnderstood: notUnderstood.map(({ place, reason }) => ({ ...place, reason })),
  };
}

function foundJson({ status, statements, fix }: Anomaly, program: string | null): object {
  return {
    status: status.kind,
    statements: statements.map(({ place, sql }) => ({ ...place, sql })),
    differs: status.kind === 'confirmed' ? status.anomaly : null,
    schedules: status.kind === 'confirmed' ? status.schedules : null,
    violations: status.kind === 'confirmed' ? status.violations : null,
    reason: status.kind === 'possible' ? status.reason : null,
    program,
    fix:
      fix === null
        ? null
        : { text: changesText(fix.changes), holds: true, proven: fix.isProven, schedules: fix.schedules },
  };
}
