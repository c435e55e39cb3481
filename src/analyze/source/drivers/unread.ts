/** Database libraries that are known by name only: what a program awaits of them is listed as not understood. */
export const unreadDrivers =
  /^(?:slonik|pg-promise|objection|@mikro-orm\/.*|better-sqlite3|sqlite3|mssql|oracledb|@databases\/.*)$/;
