/** Plans of statements by their text, kept until the catalog changes. */
import { type Catalog, prepareStatement, type Statement, statementLine, withoutLiterals } from '../../sql/index.ts';
import type { Dialect, SqlType } from '../../sql/model/index.ts';
import { wayOf, type Ways } from '../assumptions/index.ts';

const plansMax = 5_000;
/** Characters. Longer texts load data: each comes once, and its plan is large. */
const textMax = 10_000;

/** What names mean to the session that asks. */
interface PlanningSession {
  readonly database: string;
  readonly searchPath: readonly string[];
}

interface Shared {
  readonly statement: Statement;
  /** For which it was planned, and its version then. */
  readonly catalog: Catalog;
  readonly version: number;
}

/**
 * What databases with the same schema share: an explorer opens one for each run, and none has to plan again what another has planned for the
 * schema as it was at the start. A plan looks up its tables, indexes and keys in the catalog that it was made for, some of them while it runs: it
 * serves as long as that catalog has not changed.
 */
export class SharedPlans {
  readonly #plans = new Map<string, Shared>();

  get(key: string): Statement | undefined {
    const known = this.#plans.get(key);
    return known !== undefined && known.catalog.version === known.version ? known.statement : undefined;
  }

  add(key: string, statement: Statement, catalog: Catalog): void {
    if (statement.kind !== 'query' || !statement.isShareable || catalog.isChanging) return;
    if (this.#plans.size >= plansMax) this.#plans.clear();
    this.#plans.set(key, { statement, catalog, version: catalog.version });
  }
}

export interface PlanCacheOptions {
  /** Ways to the rows of a table, where they are not the likely ones. */
  readonly ways?: Ways;
  /** With databases that the same statements have made up to `start`. Default: with none. */
  readonly sharedPlans?: SharedPlans;
  /** Texts of SELECTs that run as if FOR UPDATE stood at their end; those that differ in literals only are one. Default: none. */
  readonly lockedReads?: readonly string[];
}

export class PlanCache {
  readonly #ways: Ways | undefined;
  readonly #lockedReads: ReadonlySet<string>;
  /** Names both in the keys of shared plans. */
  readonly #optionsKey: string;
  readonly #shared: SharedPlans | undefined;
  readonly #plans = new Map<string, Statement>();
  #catalog: Catalog | null = null;
  #version = 0;
  /** Of the catalog at the start. */
  #sharedVersion: number | null = null;

  constructor({ ways, sharedPlans, lockedReads = [] }: PlanCacheOptions) {
    this.#ways = ways;
    this.#lockedReads = new Set(lockedReads.map(sameText));
    this.#optionsKey = JSON.stringify([ways ?? {}, ...this.#lockedReads]);
    this.#shared = sharedPlans;
  }

  /** The schema is made. */
  start({ version, isChanging }: Catalog): void {
    this.#sharedVersion = isChanging ? null : version;
  }

  /** @throws SqlError */
  plan(
    sql: string,
    parameterTypes: readonly (SqlType | undefined)[],
    { database, searchPath }: PlanningSession,
    { catalog, dialect }: { readonly catalog: Catalog; readonly dialect: Dialect },
  ): Statement {
    if (this.#catalog !== catalog || this.#version !== catalog.version || this.#plans.size >= plansMax) {
      this.#plans.clear();
      this.#catalog = catalog;
      this.#version = catalog.version;
    }
    const key = `${database}\0${searchPath.join()}\0${parameterTypes.map((type) => type?.oid ?? '').join()}\0${sql}`;
    const known = this.#plans.get(key);
    if (known !== undefined) return known;
    const shared = this.#version === this.#sharedVersion ? this.#shared : undefined;
    const sharedKey = shared === undefined ? '' : `${this.#optionsKey}\0${key}`;
    const statement =
      shared?.get(sharedKey) ??
      prepareStatement(sql, {
        catalog,
        dialect,
        parameterTypes,
        searchPath,
        wayOf: (table, ways) => Math.min(wayOf(this.#ways, { table, statement: sql }), ways - 1),
        database,
        forUpdate: this.#lockedReads.size > 0 && this.#lockedReads.has(sameText(sql)),
      });
    if (sql.length > textMax) return statement;
    this.#plans.set(key, statement);
    shared?.add(sharedKey, statement, catalog);
    return statement;
  }
}

function sameText(sql: string): string {
  return withoutLiterals(statementLine(sql));
}
