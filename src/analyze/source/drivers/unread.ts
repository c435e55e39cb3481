/** Database libraries: what a program awaits of them that no driver made is listed as not understood. */
export const unreadDrivers =
  /^(?:knex|kysely|drizzle-orm(?:\/.*)?|@prisma\/client|typeorm|@nestjs\/typeorm|sequelize(?:-typescript)?|slonik|pg-promise|objection|@mikro-orm\/.*|better-sqlite3|sqlite3|mssql|oracledb|@databases\/.*)$/;
