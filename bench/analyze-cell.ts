/** One analysis, from source to findings, in this process: `analyze-cell.ts FOLDER|LINES` prints what it came to as JSON. */
import { analyze, type Application, type Step, type UnitStep } from '../src/analyze/index.ts';
import { applicationFromSource, loadTypeScript } from '../src/analyze/source/index.ts';
import { benchmarkApplications, readApplication } from '../test/support/benchmark-applications.ts';
import { codeBase } from './analyze-sources.ts';

export interface AnalyzeCellResult {
  readonly units: number;
  readonly statements: number;
  /** Places. */
  readonly notUnderstood: number;
  /** Sets of transactions, and of units, that are not proven robust. */
  readonly candidates: number;
  readonly confirmed: number;
  /** User time from the source to the findings: without the start of the process and the compilation of this tool. */
  readonly cpuSeconds: number;
  /** Peak of the resident set. */
  readonly megabytes: number;
}

const [what = ''] = process.argv.slice(2);
const { user: begun } = process.cpuUsage();
const ts = await loadTypeScript();
const known = benchmarkApplications.find(({ folder }) => folder === what);
const application: Application =
  known === undefined
    ? applicationFromSource({ ts, ...codeBase(Number(what)), dialect: 'postgres' })
    : readApplication(known, ts);
const isolation = application.dialect === 'mysql' ? 'repeatable read' : 'read committed';
const { anomalies, unitAnomalies, notUnderstood } = await analyze(application, { isolation });
const candidates = [...anomalies, ...unitAnomalies];
const result: AnalyzeCellResult = {
  units: application.units.length,
  statements: application.units.reduce((sum, { steps }) => sum + statementsIn(steps), 0),
  notUnderstood: notUnderstood.length,
  candidates: candidates.length,
  confirmed: candidates.filter(({ status }) => status.kind === 'confirmed').length,
  cpuSeconds: (process.cpuUsage().user - begun) / 1e6,
  megabytes: process.resourceUsage().maxRSS / 1024,
};
console.log(JSON.stringify(result));

function statementsIn(steps: readonly (UnitStep | Step)[]): number {
  return steps.reduce((sum, step) => {
    if (step.kind === 'statement') return sum + 1;
    if (step.kind === 'branch') return sum + statementsIn(step.ifTrue) + statementsIn(step.ifFalse);
    return step.kind === 'loop' || step.kind === 'transaction' ? sum + statementsIn(step.steps) : sum;
  }, 0);
}
