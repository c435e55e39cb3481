/** Sequelize: two transactions look for the same row, create it where it is missing, and look again where another has created it. */
import pg from 'pg';
import { sqlProgram } from 'moirai';

/** @param sequelize the library, of one version */
export function findCreateFind({ Sequelize, DataTypes }) {
  const find = async ({ connect }) => {
    // The library passes no stream on to the driver.
    class Client extends pg.Client {
      constructor(options) {
        super({ ...options, stream: connect });
      }
    }
    const db = new Sequelize('app', 'app', '', {
      dialect: 'postgres',
      dialectModule: { ...pg, Client, types: pg.types },
      logging: false,
      pool: { max: 1, min: 0, idle: 1000 },
    });
    const User = db.define('user', { name: { type: DataTypes.STRING, unique: true } }, { timestamps: false });
    try {
      const [user] = await db.transaction((transaction) =>
        User.findCreateFind({ where: { name: 'ada' }, transaction }),
      );
      return user.id;
    } finally {
      await db.close();
    }
  };
  return sqlProgram({
    dialect: 'postgres',
    schema: 'CREATE TABLE users (id serial PRIMARY KEY, name varchar(255) UNIQUE)',
    sessions: { alice: find, bob: find },
    invariant: ({ results }) => results.alice === results.bob || `alice has ${results.alice} and bob ${results.bob}`,
  });
}
