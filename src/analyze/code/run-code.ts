/**
 * An analysis checked by the application's own code. Each unit runs alone, and what it sends is compared with what the source was read to send; then the units of
 * each confirmed anomaly run in its schedules, on the same rows and with the same arguments.
 */
import { Budget, type BudgetOptions, exploring, InputError, type StopReason, stopText } from '../../base/index.ts';
import type { Evidence } from '../../evidence/index.ts';
import { listed } from '../listed-names.ts';
import type { IsolationName } from '../../sql/index.ts';
import type { Analysis } from '../analyze.ts';
import type { Anomaly } from '../anomaly.ts';
import type { Application, Unit } from '../application.ts';
import { shownSchedulesMax } from '../confirm.ts';
import { type ExploreLimits, exploreWitness, type Explored, KnownTables } from '../explore-witness.ts';
import { ParameterColumns } from '../parameter-columns.ts';
import { statementsIn } from '../paths.ts';
import { readSchema, type Schema } from '../schema.ts';
import { SerialRuns } from '../serial-outcomes.ts';
import { usesSkipLocked } from '../skip-locked-choices.ts';
import { type AnalyzedTransaction, transactionsOf } from '../transactions.ts';
import type { WitnessDefinition } from '../witness-definition.ts';
import type { ApplicationCode } from './application-code.ts';
import { type AnomalyRun, type CodeReport, differenceText, type UnitRun } from './code-report.ts';
import { CodeSessions } from './code-sessions.ts';
import { type Difference, differences } from './compare-statements.ts';
import { definitionsAlone } from './unit-alone.ts';

export interface RunCodeOptions extends BudgetOptions {
  /** The database's level for transactions that name none. */
  readonly isolation: IsolationName;
  /** Of one anomaly. Default 200. */
  readonly schedulesMax?: number;
}

export async function runCode(
  application: Application,
  analysis: Analysis,
  code: ApplicationCode,
  options: RunCodeOptions,
): Promise<Analysis> {
  const check = new CodeCheck(application, await readSchema(application), code, options);
  const units = await check.units();
  const anomalies: AnomalyRun[] = [];
  for (const anomaly of [...analysis.anomalies, ...analysis.unitAnomalies]) {
    anomalies.push(await check.anomaly(anomaly, units));
  }
  const report: CodeReport = { units, anomalies };
  return { ...analysis, code: report, evidence: withCode(analysis.evidence, report, check.over) };
}

/** What the run shows to be another program than the source was read as is not known. */
function withCode(evidence: Evidence, { units }: CodeReport, over: StopReason | null): Evidence {
  const different = units.flatMap((unit) => unit.differences);
  const unrun = units.filter(({ reason }) => reason !== null).map(({ name }) => name);
  return {
    ...evidence,
    cut: [
      ...evidence.cut,
      ...different.map(differenceText),
      ...(over === null ? [] : [`the check by the application's own code was ${stopText(over)}`]),
    ],
    assumed: [
      ...evidence.assumed,
      ...(unrun.length === 0
        ? []
        : [`what ${listed(unrun)} ${unrun.length === 1 ? 'sends' : 'send'} is what the source says: not run`]),
    ],
  };
}

const schedulesMaxDefault = 200;
/** Longer than the calls of a run and of its serial orders may take, with imports. */
const limitMs = 300_000;
/** A statement that moirai cannot run. */
const unsupported = '0A000';

class CodeCheck {
  readonly #application: Application;
  readonly #schema: Schema;
  readonly #transactions: readonly AnalyzedTransaction[];
  readonly #code: ApplicationCode;
  readonly #isolation: IsolationName;
  readonly #limits: ExploreLimits & { readonly budget: Budget };
  readonly #tables = new KnownTables();

  constructor(application: Application, schema: Schema, code: ApplicationCode, options: RunCodeOptions) {
    this.#application = application;
    this.#schema = schema;
    this.#transactions = transactionsOf(application, schema);
    this.#code = code;
    this.#isolation = options.isolation;
    this.#limits = {
      schedulesMax: options.schedulesMax ?? schedulesMaxDefault,
      budget: new Budget(options),
    };
  }

  /** Why it ended early. */
  get over(): StopReason | null {
    return this.#limits.budget.over;
  }

  async units(): Promise<readonly UnitRun[]> {
    const set = { schema: this.#schema, columns: new ParameterColumns(this.#schema) };
    const runs: UnitRun[] = [];
    for (const unit of this.#application.units) {
      const parts = this.#transactions.filter((one) => one.unit === unit);
      const definitions = definitionsAlone(unit, parts, set, this.#isolation);
      runs.push({ name: unit.name, place: unit.place, ...(await this.#alone(unit, definitions)) });
    }
    return runs;
  }

  async #alone(
    unit: Unit,
    definitions: readonly WitnessDefinition[],
  ): Promise<Pick<UnitRun, 'reason' | 'differences'>> {
    const found = new Map<string, Difference>();
    let reason: string | null = definitions.length === 0 ? 'no statement of it is understood' : null;
    let hasRun = false;
    for (const definition of definitions) {
      const { over } = this;
      const ran = over === null ? await this.#once(unit, definition) : `the check was ${stopText(over)}`;
      if (typeof ran === 'string') reason ??= ran;
      else {
        hasRun = true;
        for (const one of ran) found.set(JSON.stringify(one), one);
      }
    }
    return { reason: hasRun ? null : reason, differences: [...found.values()] };
  }

  /** @returns why it did not run, as a clause */
  async #once(unit: Unit, definition: WitnessDefinition): Promise<readonly Difference[] | string> {
    const sessions = new CodeSessions(
      this.#code,
      new Map(definition.sessions.map(({ name }) => [name, unit])),
      definition.dialect,
    );
    try {
      await new SerialRuns(definition, sessions.run, undefined).inOrder(definition.sessions, exploring([]));
    } catch (error) {
      // Rows that a constraint refuses.
      if (error instanceof InputError && error.code === 'program/schema')
        return `its rows cannot be made: ${error.message}`;
      throw error;
    }
    if (sessions.failure !== null) return sessions.failure;
    const { sent } = sessions.sent;
    const refused = sent.find(({ error }) => error?.code === unsupported);
    if (refused !== undefined) return `moirai cannot run ${refused.sql}: ${refused.error?.message}`;
    const found = differences(unit, sent, definition.dialect);
    const [first] = found;
    // What the code throws by itself cuts off the rest: an argument is not as it expects.
    const isCut = first?.reason === null && (first.sent === null || /^\s*rollback\b/i.test(first.sent));
    return isCut && sessions.outcome.kind === 'threw' ? `it threw ${sessions.outcome.error}` : found;
  }

  /** @param runs of all units */
  async anomaly({ status }: Anomaly, runs: readonly UnitRun[]): Promise<AnomalyRun> {
    if (status.kind === 'possible') return { kind: 'not run', reason: 'it is only possible' };
    if (status.anomaly === 'overwritten')
      return { kind: 'not run', reason: 'only what its units write on the way differs, which is not compared' };
    const { program } = status;
    const { over } = this;
    if (over !== null) return { kind: 'not run', reason: `the check was ${stopText(over)}` };
    for (const { name, steps, scope } of program.sessions) {
      const unit = this.#unitOf(name, scope);
      if (unit === undefined)
        return { kind: 'not run', reason: `${nameOf(name)} is one of several transactions of its unit` };
      const { reason = null } = runs.find((one) => one.name === unit.name) ?? {};
      if (reason !== null) return { kind: 'not run', reason: `${unit.name}: ${reason}` };
      if (statementsIn(steps).some(({ sql }) => usesSkipLocked(sql)))
        return { kind: 'not run', reason: `${unit.name} skips locked rows` };
    }
    return this.#explore(program);
  }

  async #explore(program: WitnessDefinition): Promise<AnomalyRun> {
    const explored = await this.#explored(program, { ...this.#limits, failsFastAfter: shownSchedulesMax });
    if (explored.kind === 'failed') return { kind: 'not run', reason: explored.reason };
    const { anomaly, schedules, violations, isComplete, replay } = explored;
    if (anomaly === null || replay === null) return { kind: 'not shown', schedules, isComplete };
    // A module may keep something from one run to the next: the schedule has to show the anomaly in applications that have done nothing before.
    const anew = await this.#explored(program, this.#limits, replay);
    if (anew.kind === 'failed') return { kind: 'not run', reason: anew.reason };
    if (anew.schedules === 0)
      return { kind: 'not run', reason: 'with the application imported anew it did not end in time' };
    if (anew.violations > 0) return { kind: 'confirmed', anomaly, schedules, violations };
    return { kind: 'not run', reason: 'what it shows depends on what the application keeps between calls' };
  }

  /** @param replay only this schedule, in applications that are imported anew */
  async #explored(program: WitnessDefinition, limits: ExploreLimits, replay?: string): Promise<Explored> {
    const units = program.sessions.map(({ name, scope }) => [name, this.#unitOf(name, scope)] as const);
    const sessions = new CodeSessions(this.#code, new Map(units), program.dialect, replay !== undefined);
    const other = { run: sessions.run, limitMs, ...(replay === undefined ? {} : { replay }) };
    const explored = await exploreWitness(program, limits, this.#tables, other);
    await sessions.forgetFresh();
    return sessions.failure === null ? explored : { kind: 'failed', reason: sessions.failure };
  }

  /** The unit that the session is an instance of as a whole. */
  #unitOf(session: string, scope: WitnessDefinition['sessions'][number]['scope']): Unit | undefined {
    const name = nameOf(session);
    const unit = this.#application.units.find((one) => one.name === name);
    if (unit === undefined || scope === 'transactions of their own') return unit;
    return this.#transactions.filter((one) => one.unit === unit).length === 1 ? unit : undefined;
  }
}

/** `pay` of the session `pay 2`. */
function nameOf(session: string): string {
  return session.replace(/ \d+$/, '');
}
