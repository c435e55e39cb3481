/** What a client of a server sees of a statement, in a form that can be compared. */
import {
  createConnection,
  type Connection,
  type FieldPacket,
  type ResultSetHeader,
  type RowDataPacket,
} from 'mysql2/promise';
import pg from 'pg';

export type Answer =
  | {
      readonly kind: 'rows';
      readonly tag: string;
      readonly columns: readonly string[];
      readonly rows: readonly string[];
    }
  | { readonly kind: 'done'; readonly tag: string }
  | { readonly kind: 'error'; readonly code: string; readonly message: string };

/** A statement with the values of its parameters; with values it is prepared. */
export interface Statement {
  readonly sql: string;
  readonly values?: readonly (string | null)[] | undefined;
  /** Is the order of its rows decided? */
  readonly isOrdered?: boolean | undefined;
  /** Are MySQL's types of its columns compared exactly? Those of computed columns are by class: how many digits fit is the server's guess. */
  readonly hasExactTypes?: boolean | undefined;
}

export interface Client {
  ask(statement: Statement): Promise<Answer>;
  end(): Promise<void>;
}

export async function postgresClient(config: pg.ClientConfig): Promise<Client> {
  const client = new pg.Client({ ...config, types: asText });
  await client.connect();
  return {
    ask: async ({ sql, values, isOrdered }) => {
      try {
        const query = { text: sql, rowMode: 'array', ...(values === undefined ? {} : { values: [...values] }) };
        const result: unknown = await client.query<(string | null)[]>(query);
        // Several statements in one text have several results; the last one is compared.
        const last = (Array.isArray(result) ? result.at(-1) : result) as pg.QueryArrayResult<(string | null)[]>;
        const { command, rowCount, fields, rows } = last;
        const tag = `${command ?? ''} ${rowCount ?? ''}`;
        if (fields.length === 0) return { kind: 'done', tag };
        const columns = fields.map((field) => `${field.name} ${typeText(field.dataTypeID)} ${field.dataTypeModifier}`);
        return { kind: 'rows', tag, columns, rows: texts(rows, isOrdered, (value) => value) };
      } catch (error) {
        if (!(error instanceof pg.DatabaseError)) throw error;
        return { kind: 'error', code: error.code ?? '', message: error.message };
      }
    },
    end: () => client.end(),
  };
}

/** Types of the database itself get their numbers as they come. */
function typeText(oid: number): string {
  return oid >= 16_384 ? 'own' : String(oid);
}

const asText: pg.CustomTypesConfig = { getTypeParser: () => (value: unknown) => value };

/** MariaDB's own numbers for what MySQL 8 calls: a check that failed, an unknown table (a view). */
const mysqlNumbers: ReadonlyMap<number, string> = new Map([
  [4025, '3819'],
  [4092, '1051'],
]);

export async function mysqlClient(config: Parameters<typeof createConnection>[0]): Promise<Client> {
  const connection: Connection = await createConnection(config);
  type Result = RowDataPacket[][] | ResultSetHeader;
  return {
    ask: async ({ sql, values, isOrdered, hasExactTypes }) => {
      try {
        const options = { sql, rowsAsArray: true, dateStrings: true, supportBigNumbers: true, bigNumberStrings: true };
        const [result, fields] =
          values === undefined
            ? await connection.query<Result>(options)
            : await connection.execute<Result>(options, [...values]);
        if (!Array.isArray(result)) {
          const { affectedRows, changedRows, insertId } = result;
          // A changed definition counts the rows that had to be copied.
          const counts = /^\s*ALTER/i.test(sql) ? '' : `affected ${affectedRows} changed ${changedRows} id ${insertId}`;
          return { kind: 'done', tag: counts };
        }
        return {
          kind: 'rows',
          tag: '',
          columns: fields.map((field) => mysqlColumn(field, hasExactTypes === true)),
          rows: texts(result, isOrdered, textOf),
        };
      } catch (error) {
        if (!(error instanceof Error && 'errno' in error)) throw error;
        return {
          kind: 'error',
          code: mysqlNumbers.get(Number(error.errno)) ?? String(error.errno),
          message: error.message,
        };
      }
    },
    end: () => connection.end(),
  };
}

/** 63 is the character set of bytes; 32 the flag of unsigned numbers. */
function mysqlColumn({ name, columnType, characterSet, flags, decimals }: FieldPacket, isExact: boolean): string {
  const code = columnType ?? -1;
  if (!isExact) return `${name} ${columnClass(code)}`;
  // MariaDB's JSON is a name for LONGTEXT.
  if (code === 245 || (code === 252 && name.startsWith('j'))) return `${name} json`;
  const isUnsigned = typeof flags === 'number' && (flags & 32) !== 0;
  return `${name} ${code} ${characterSet === 63 ? 'bytes' : 'text'} ${isUnsigned ? 'unsigned' : ''} .${decimals}`;
}

/** Numbers are one class, and so are strings of every length: MariaDB guesses the type of what it computes. */
function columnClass(code: number): string {
  if ([1, 2, 3, 4, 5, 8, 9, 13, 246].includes(code)) return 'number';
  if ([7, 12].includes(code)) return 'datetime';
  return [6, 245, 249, 250, 251, 252, 253, 254].includes(code) ? 'string' : String(code);
}

function texts(
  rows: readonly (readonly unknown[])[],
  isOrdered: boolean | undefined,
  show: (value: unknown) => unknown,
): string[] {
  const found = rows.map((row) => JSON.stringify(row.map((value) => show(value))));
  return isOrdered === true ? found : found.toSorted();
}

/** What we do not do says so: that is no difference. */
export function isUnsupported(answer: Answer): boolean {
  return answer.kind === 'error' && (answer.code === '0A000' || answer.code === '1235');
}

/** MySQL's decimals without the zeros at their end: how many there are is a guess, too. */
function textOf(value: unknown): unknown {
  if (Buffer.isBuffer(value)) return `0x${value.toString('hex')}`;
  if (typeof value === 'string' && /^-?\d+\.\d+$/.test(value)) return value.replace(/\.?0+$/, '');
  return typeof value === 'number' ? String(value) : value;
}

export function isSameAnswer(ours: Answer, theirs: Answer): boolean {
  if (ours.kind === 'error' || theirs.kind === 'error') {
    return ours.kind === 'error' && theirs.kind === 'error' && ours.code === theirs.code;
  }
  return JSON.stringify(ours) === JSON.stringify(theirs);
}

export function answerText(answer: Answer): string {
  switch (answer.kind) {
    case 'rows':
      return `${answer.tag} ${JSON.stringify(answer.columns)} ${answer.rows.join(' ')}`;
    case 'done':
      return answer.tag;
    case 'error':
      return `error ${answer.code} ${answer.message}`;
  }
}
