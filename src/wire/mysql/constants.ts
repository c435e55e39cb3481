/** The numbers of the protocol, named as in the MySQL source (`mysql_com.h`, `field_types.h`) without their prefixes. */

/** CLIENT_*: what server and client can do; used is what both name. */
export const capabilities = {
  longPassword: 1,
  /** Affected rows count the matched ones, not the changed ones. */
  foundRows: 1 << 1,
  longFlag: 1 << 2,
  connectWithDb: 1 << 3,
  noSchema: 1 << 4,
  compress: 1 << 5,
  odbc: 1 << 6,
  localFiles: 1 << 7,
  ignoreSpace: 1 << 8,
  protocol41: 1 << 9,
  interactive: 1 << 10,
  ssl: 1 << 11,
  ignoreSigpipe: 1 << 12,
  transactions: 1 << 13,
  secureConnection: 1 << 15,
  multiStatements: 1 << 16,
  multiResults: 1 << 17,
  psMultiResults: 1 << 18,
  pluginAuth: 1 << 19,
  connectAttributes: 1 << 20,
  pluginAuthLengthEncoded: 1 << 21,
  sessionTrack: 1 << 23,
  deprecateEof: 1 << 24,
  optionalResultsetMetadata: 1 << 25,
  queryAttributes: 1 << 27,
} as const;

/** What hides from who reads beside what is said. */
export const unreadableCapabilities =
  capabilities.ssl |
  capabilities.compress |
  capabilities.optionalResultsetMetadata |
  capabilities.queryAttributes |
  (1 << 26); // compression by zstd

/** SERVER_STATUS_* and the like, in OK and EOF packets. */
export const serverStatus = {
  inTransaction: 1,
  autocommit: 1 << 1,
  moreResultsExist: 1 << 3,
  cursorExists: 1 << 6,
  lastRowSent: 1 << 7,
  sessionStateChanged: 1 << 14,
} as const;

/** MYSQL_TYPE_*. */
export const columnType = {
  decimal: 0x00,
  tiny: 0x01,
  short: 0x02,
  long: 0x03,
  float: 0x04,
  double: 0x05,
  null: 0x06,
  timestamp: 0x07,
  longlong: 0x08,
  int24: 0x09,
  date: 0x0a,
  time: 0x0b,
  datetime: 0x0c,
  year: 0x0d,
  varchar: 0x0f,
  bit: 0x10,
  json: 0xf5,
  newdecimal: 0xf6,
  enum: 0xf7,
  set: 0xf8,
  tinyBlob: 0xf9,
  mediumBlob: 0xfa,
  longBlob: 0xfb,
  blob: 0xfc,
  varString: 0xfd,
  string: 0xfe,
  geometry: 0xff,
} as const;

/** *_FLAG of column definitions. */
export const columnFlag = {
  notNull: 1,
  primaryKey: 1 << 1,
  uniqueKey: 1 << 2,
  blob: 1 << 4,
  unsigned: 1 << 5,
  binary: 1 << 7,
  enum: 1 << 8,
  autoIncrement: 1 << 9,
  timestamp: 1 << 10,
  number: 1 << 15,
} as const;

/** Collation numbers, which stand for character sets. */
export const characterSet = { utf8mb4GeneralCi: 45, binary: 63, utf8mb40900AiCi: 255 } as const;

/** COM_*. */
export const commandCode = {
  quit: 0x01,
  initDb: 0x02,
  query: 0x03,
  fieldList: 0x04,
  statistics: 0x09,
  processKill: 0x0c,
  ping: 0x0e,
  changeUser: 0x11,
  stmtPrepare: 0x16,
  stmtExecute: 0x17,
  stmtSendLongData: 0x18,
  stmtClose: 0x19,
  stmtReset: 0x1a,
  setOption: 0x1b,
  stmtFetch: 0x1c,
  resetConnection: 0x1f,
} as const;

export function has(flags: number, flag: number): boolean {
  return (flags & flag) !== 0;
}
