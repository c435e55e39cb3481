/** Sessions of a witness by the application's own functions. */
import type { Dialect, Unit } from '../application.ts';
import type { Connecting } from '../connecting.ts';
import type { RunSession } from '../run-session.ts';
import { ranInVain } from '../run-steps.ts';
import type { ApplicationCode, CallOutcome } from './application-code.ts';
import { SentStatements } from './sent-statements.ts';
import { unitCall } from './unit-call.ts';

export class CodeSessions {
  readonly #code: ApplicationCode;
  readonly #units: ReadonlyMap<string, Unit | undefined>;
  readonly #dialect: Dialect;
  readonly #isFresh: boolean;
  /** By what their connections come to: those that are imported for one run, or for one serial order. */
  readonly #fresh = new Map<Connecting, number>();
  #underWay = 0;
  /** Why a session could not run: what the others did then shows nothing. */
  failure: string | null = null;
  /** Of the last call. */
  outcome: CallOutcome = { kind: 'returned' };
  sent: SentStatements;

  /** @param units by the names of the sessions, in their order @param isFresh is the application imported anew for each session of a run, and for each serial order? */
  constructor(code: ApplicationCode, units: ReadonlyMap<string, Unit | undefined>, dialect: Dialect, isFresh = false) {
    this.#code = code;
    this.#units = units;
    this.#dialect = dialect;
    this.#isFresh = isFresh;
    this.sent = new SentStatements(dialect, []);
  }

  readonly run: RunSession = async ({ name, scope, arguments: given, guards }, connecting) => {
    const sent = new SentStatements(this.#dialect, guards);
    this.sent = sent;
    const unit = this.#units.get(name);
    const call = unit === undefined ? { reason: `no unit is named ${name}` } : unitCall(unit, given);
    if (!('kind' in call)) return this.#fail(call.reason);
    this.#underWay += 1;
    const application = this.#isFresh ? await this.#freshFor(connecting) : [...this.#units.keys()].indexOf(name);
    const outcome = await this.#code.call(application, call, () => connecting.stream(sent.connection()));
    this.#underWay -= 1;
    this.outcome = outcome;
    if (outcome.kind === 'failed') return this.#fail(outcome.reason);
    return sent.ran(outcome, scope);
  };

  /** Ends the applications that were imported for one run. */
  async forgetFresh(): Promise<void> {
    const all = [...this.#fresh.values()];
    this.#fresh.clear();
    await Promise.all(all.map((application) => this.#code.forget(application)));
  }

  async #freshFor(connecting: Connecting): Promise<number> {
    const known = this.#fresh.get(connecting);
    if (known !== undefined) return known;
    // Another run begins.
    if (this.#underWay === 1) await this.forgetFresh();
    const application = firstFresh + this.#fresh.size;
    this.#fresh.set(connecting, application);
    return application;
  }

  #fail(reason: string): Awaited<ReturnType<RunSession>> {
    this.failure ??= reason;
    return ranInVain('aborted');
  }
}

/** Sessions of a witness are fewer. */
const firstFresh = 1_000;
