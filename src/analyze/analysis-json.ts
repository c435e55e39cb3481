import { conclude, conclusionJson } from '../evidence/index.ts';
import type { Analysis } from './analyze.ts';
import type { Anomaly } from './anomaly.ts';
import { changesOfTransaction, changesText } from './changes.ts';
import type { AnomalyRun, CodeReport } from './code/code-report.ts';

/** The `--json` shape of `moirai analyze`. @param files of the programs of the anomalies, then of those of units; `null`: not written */
export function analysisJson(analysis: Analysis, files: readonly (string | null)[]): object {
  const { transactions, anomalies, unitAnomalies, notUnderstood, assumed, leftOut, evidence, code } = analysis;
  const conclusion = conclude(evidence);
  return {
    ...conclusionJson(conclusion),
    ...(conclusion.kind === 'satisfied' ? {} : { assumed }),
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
      ...foundJson(anomaly, files[at] ?? null, code?.anomalies[at]),
    })),
    unitAnomalies: unitAnomalies.map((anomaly, at) => ({
      name: anomaly.name,
      units: anomaly.transactions,
      ...foundJson(anomaly, files[anomalies.length + at] ?? null, code?.anomalies[anomalies.length + at]),
    })),
    notUnderstood: notUnderstood.map(({ place, reason }) => ({ ...place, reason })),
    leftOut,
    ...(code === undefined ? {} : { code: codeJson(code) }),
  };
}

function codeJson({ units }: CodeReport): object {
  return {
    units: units.map(({ name, place, reason, differences }) => ({
      name,
      ...place,
      ran: reason === null,
      reason,
      differences: differences.map(({ place: at, ...difference }) => ({ ...at, ...difference })),
    })),
  };
}

function foundJson({ status, statements, fix }: Anomaly, program: string | null, code: AnomalyRun | undefined): object {
  return {
    status: status.kind,
    ran: status.kind === 'possible' ? null : code?.kind === 'confirmed' ? 'code' : 'statements',
    ...(code === undefined ? {} : { code: anomalyRunJson(code) }),
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

function anomalyRunJson(code: AnomalyRun): object {
  const { kind: status } = code;
  if (code.kind === 'not run') return { status, differs: null, schedules: null, violations: null, reason: code.reason };
  const { schedules } = code;
  const { differs, violations } =
    code.kind === 'confirmed'
      ? { differs: code.anomaly, violations: code.violations }
      : { differs: null, violations: 0 };
  return { status, differs, schedules, violations, reason: null };
}
