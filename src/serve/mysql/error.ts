/** Errors in MySQL's numbers, SQLSTATEs and words: ORMs look at all three. MySQL 8.0 Error Reference. */
import { SqlError } from '../../sql/model/index.ts';
import type { ErrorPacket } from '../../wire/mysql/index.ts';

/** SQLSTATE by number, where this server may say the number. */
const stateOfNumber: ReadonlyMap<number, string> = new Map([
  [1040, '08004'], // too many connections
  [1043, '08S01'], // bad handshake
  [1044, '42000'],
  [1045, '28000'], // access denied
  [1046, '3D000'], // no database selected
  [1047, '08S01'], // unknown command
  [1048, '23000'], // column cannot be null
  [1049, '42000'], // unknown database
  [1050, '42S01'], // table exists
  [1051, '42S02'], // unknown table to drop
  [1052, '23000'], // ambiguous column
  [1053, '08S01'], // server shutdown
  [1054, '42S22'], // unknown column
  [1055, '42000'], // not in GROUP BY
  [1059, '42000'], // identifier too long
  [1060, '42S21'], // duplicate column
  [1061, '42000'], // duplicate key name
  [1062, '23000'], // duplicate entry
  [1063, '42000'],
  [1064, '42000'], // syntax
  [1065, '42000'], // empty query
  [1066, '42000'], // two tables of one name
  [1067, '42000'], // invalid default
  [1068, '42000'], // multiple primary keys
  [1075, '42000'], // AUTO_INCREMENT without a key
  [1091, '42000'], // cannot drop, does not exist
  [1094, 'HY000'], // unknown thread
  [1105, 'HY000'], // unknown error
  [1109, '42S02'], // unknown table in a multi-table statement
  [1110, '42000'], // column specified twice
  [1111, 'HY000'], // aggregate where none may be
  [1136, '21S01'], // column count and value count differ
  [1020, 'HY000'], // record has changed since last read
  [1146, '42S02'], // no such table
  [1140, '42000'], // columns beside aggregates without GROUP BY
  [1153, '08S01'], // packet too large
  [1156, '08S01'], // packets out of order
  [1172, '42000'], // more than one row
  [1193, 'HY000'], // unknown system variable
  [1205, 'HY000'], // lock wait timeout
  [1210, 'HY000'], // wrong arguments
  [1213, '40001'], // deadlock
  [1231, '42000'], // wrong value for variable
  [1235, '42000'], // not supported yet
  [1241, '21000'], // another number of columns
  [1242, '21000'], // subquery returns more than one row
  [1243, 'HY000'], // unknown prepared statement
  [1264, '22003'], // out of range for column
  [1265, '01000'], // data truncated
  [1292, '22007'], // incorrect date value
  [1305, '42000'], // does not exist: routine, savepoint
  [1317, '70100'], // query interrupted
  [1327, '42000'], // undeclared variable
  [1364, 'HY000'], // no default value
  [1365, '22012'], // division by 0
  [1366, 'HY000'], // incorrect value
  [1406, '22001'], // data too long
  [1222, '21000'], // different number of columns
  [1421, 'HY000'], // statement has no open cursor
  [1439, '42000'], // display width out of range
  [1451, '23000'], // row is referenced
  [1452, '23000'], // no referenced row
  [1467, 'HY000'], // AUTO_INCREMENT cannot be read
  [1461, '42000'], // too many prepared statements
  [1568, '25001'], // transaction in progress
  [1582, '42000'], // wrong parameter count of a function
  [1690, '22003'], // value out of range in expression
  [1701, '42000'], // truncated table is referenced
  [1792, '25006'], // read only transaction
  [1829, 'HY000'], // column is referenced
  [1835, 'HY000'], // malformed packet
  [3140, '22032'], // invalid JSON text
  [3143, '42000'], // invalid JSON path
  [3158, '22032'], // JSON object with a null key
  [3572, 'HY000'], // NOWAIT
  [3819, 'HY000'], // check constraint
  [4031, 'HY000'],
]);

/** Number by PostgreSQL's SQLSTATE. */
const numberOfState: ReadonlyMap<string, number> = new Map([
  ['0A000', 1235],
  ['08P01', 1835],
  ['21000', 1242],
  ['22001', 1406],
  ['22003', 1690],
  ['22007', 1292],
  ['22008', 1292],
  ['22012', 1365],
  ['22P02', 1366],
  ['22023', 1210],
  ['23502', 1048],
  ['23503', 1452],
  ['23505', 1062],
  ['23514', 3819],
  ['25001', 1568],
  ['25006', 1792],
  ['26000', 1243],
  ['28000', 1045],
  ['28P01', 1045],
  ['3B001', 1305],
  ['3D000', 1049],
  ['40001', 1213],
  ['40P01', 1213],
  ['42601', 1064],
  ['42701', 1060],
  ['42702', 1052],
  ['42703', 1054],
  ['42704', 1193],
  ['42710', 1061],
  ['42712', 1066],
  ['42803', 1055],
  ['42804', 1366],
  ['42883', 1305],
  ['42P01', 1146],
  ['42P02', 1210],
  ['42P07', 1050],
  ['42P16', 1068],
  ['53300', 1040],
  ['55P03', 1205],
  ['57014', 1317],
  ['57P01', 1053],
]);

const unknownError = 1105;

/** What the client reads. `database` is part of some messages. */
export function mysqlError(error: SqlError, database: string): ErrorPacket {
  const number = numberOf(error);
  return { number, state: stateOfNumber.get(number) ?? 'HY000', message: messageOf(error, number, database) };
}

/** An error that only this protocol knows. */
export function protocolError(number: number, message: string): SqlError {
  return new SqlError(stateOfNumber.get(number) ?? 'HY000', message, { mysqlNumber: number });
}

function numberOf({ code, message, detail }: SqlError): number {
  if (detail.mysqlNumber !== undefined) return detail.mysqlNumber;
  if (code === '23503' && isStillReferenced(detail.detail)) return 1451;
  if (code === '55P03' && !message.includes('timeout')) return 3572;
  if (code === '42P01' && /^(table|view) /.test(message)) return 1051;
  // A column has a range; an expression has another.
  if (code === '22003' && detail.column !== undefined) return 1264;
  return numberOfState.get(code) ?? unknownError;
}

function isStillReferenced(detail: string | undefined): boolean {
  return detail?.includes('is still referenced') === true;
}

/** PostgreSQL's words for what ORMs read out of MySQL's messages. */
function messageOf(error: SqlError, number: number, database: string): string {
  const { message, detail } = error;
  if (detail.mysqlMessage !== undefined) return withDatabase(detail.mysqlMessage, number, database);
  // The dialect has said it in MySQL's words; it does not know the database.
  if (detail.mysqlNumber !== undefined) return withDatabase(message, number, database);
  switch (number) {
    case 1048:
      return detail.column === undefined ? message : `Column '${detail.column}' cannot be null`;
    case 1050:
      return rewritten(message, /^relation "(.*)" already exists$/, (table) => `Table '${table}' already exists`);
    case 1051:
      return rewritten(message, unknownTable, (table) => `Unknown table '${database}.${table}'`);
    case 1054:
      return rewritten(message, unknownColumn, (column) => `Unknown column '${column}' in 'field list'`);
    case 1055:
      return rewritten(message, ungroupedColumn, (column) => `'${database}.${column}' isn't in GROUP BY`);
    case 1052:
      return detail.column === undefined ? message : `Column '${detail.column}' in ${clauseOf(detail)} is ambiguous`;
    case 1060:
      return rewritten(message, repeatedColumn, (column) => `Duplicate column name '${column}'`);
    case 1061:
      return rewritten(message, takenName, (name) => `Duplicate key name '${name}'`);
    case 1062:
      return duplicateEntry(error);
    case 1066:
      return rewritten(
        message,
        /^table name "(.*)" specified more than once$/,
        (name) => `Not unique table/alias: '${name}'`,
      );
    case 1068:
      return rewritten(message, /^multiple primary keys for table "(.*)"/, () => 'Multiple primary key defined');
    case 1146:
      return rewritten(message, unknownTable, (table) => `Table '${database}.${table}' doesn't exist`);
    case 1205:
      return 'Lock wait timeout exceeded; try restarting transaction';
    case 1213:
      return 'Deadlock found when trying to get lock; try restarting transaction';
    case 1305:
      return rewritten(
        message,
        /^function (.*?)\(.*\) does not exist$/s,
        (name) => `FUNCTION ${database}.${name} does not exist`,
      );
    case 1317:
      return 'Query execution was interrupted';
    case 1365:
      return 'Division by 0';
    case 1451:
    case 1452:
      return brokenReference(error, number, database);
    case 3572:
      return 'Statement aborted because lock(s) could not be acquired immediately and NOWAIT is set.';
    case 3819:
      return detail.constraint === undefined ? message : `Check constraint '${detail.constraint}' is violated.`;
    default:
      return message;
  }
}

/** Before the child's name; in one message before the parent's, too. */
function withDatabase(message: string, number: number, database: string): string {
  switch (number) {
    case 1451:
    case 1452:
      return message.replace(' fails (', ` fails (\`${database}\`.`);
    case 1701:
      return message
        .replace(' constraint (', ` constraint (\`${database}\`.`)
        .replace('REFERENCES ', `REFERENCES \`${database}\`.`);
    case 1829:
      return message.replace(' of table ', ` of table \`${database}\`.`);
    default:
      return message;
  }
}

const unknownColumn = /^column "?([^" ]+)"?(?: of relation .*)? does not exist$/;
const repeatedColumn = /^column "(.*?)"(?: of relation ".*")? (?:specified more than once|already exists)$/;
const ungroupedColumn = /^column "(.*)" must appear in the GROUP BY clause/;
const takenName = /^constraint "(.*)" for relation ".*" already exists$/;
const unknownTable = /^(?:relation|table|view) "(?:.*\.)?(.*)" does not exist$/;

const clauses: ReadonlyMap<string, string> = new Map([
  ['', 'SELECT'],
  ['JOIN conditions', 'ON'],
  ['UPDATE', 'SET'],
]);

function clauseOf({ clause = '' }: SqlError['detail']): string {
  return clauses.get(clause) ?? clause;
}

function rewritten(message: string, pattern: RegExp, write: (name: string) => string): string {
  const name = pattern.exec(message)?.[1];
  return name === undefined ? message : write(name);
}

/** PostgreSQL's detail: `Key (a, b)=(1, 2) already exists.` */
const keyDetail = /^Key \((.*?)\)=\((.*)\)/s;

function duplicateEntry({ message, detail }: SqlError): string {
  const values = keyDetail.exec(detail.detail ?? '')?.[2];
  if (values === undefined || detail.constraint === undefined) return message;
  const index = detail.constraint === `${detail.table}_pkey` ? 'PRIMARY' : detail.constraint;
  const key = detail.table === undefined ? index : `${detail.table}.${index}`;
  return `Duplicate entry '${values.replaceAll(', ', '-')}' for key '${key}'`;
}

function brokenReference({ message, detail }: SqlError, number: number, database: string): string {
  const what = number === 1451 ? 'Cannot delete or update a parent row' : 'Cannot add or update a child row';
  if (detail.table === undefined || detail.constraint === undefined) return message;
  const columns = keyDetail.exec(detail.detail ?? '')?.[1];
  const key = number === 1452 && columns !== undefined ? ` FOREIGN KEY (\`${columns.replaceAll(', ', '`, `')}\`)` : '';
  const referenced = /in table "(.*)"/.exec(detail.detail ?? '')?.[1];
  const references = number === 1452 && referenced !== undefined ? ` REFERENCES \`${referenced}\`` : '';
  const constraint = `CONSTRAINT \`${detail.constraint}\`${key}${references}`;
  return `${what}: a foreign key constraint fails (\`${database}\`.\`${detail.table}\`, ${constraint})`;
}
