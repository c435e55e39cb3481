/** Count, then insert, with Sequelize: two people take the last seat of a course. */
import mysql2 from 'mysql2';
import { DataTypes, Sequelize } from 'sequelize';
import type { RowDataPacket } from 'mysql2/promise';
import { sqlProgram } from 'moirai';
import { type Connection, onMysql } from './clients.ts';

const course = 'c2a8a1f4-0d0e-4b0c-9a43-1f4f2b7f4a01';

async function enroll({ connect }: Connection, id: string, person: string): Promise<string> {
  const db = new Sequelize('app', 'app', '', {
    dialect: 'mysql',
    dialectModule: mysql2,
    dialectOptions: { stream: connect },
    logging: false,
    pool: { max: 1, min: 0 },
  });
  const Course = db.define(
    'course',
    { id: { type: DataTypes.UUID, primaryKey: true }, seats: DataTypes.INTEGER },
    options,
  );
  const Enrollment = db.define(
    'enrollment',
    { id: { type: DataTypes.UUID, primaryKey: true }, courseId: DataTypes.UUID, person: DataTypes.STRING },
    options,
  );
  try {
    return await db.transaction(async (transaction) => {
      const found = await Course.findByPk(course, { transaction, rejectOnEmpty: true });
      const taken = await Enrollment.count({ where: { courseId: course }, transaction });
      if (taken >= Number(found.get('seats'))) return 'full';
      await Enrollment.create({ id, courseId: course, person }, { transaction });
      return 'enrolled';
    });
  } finally {
    await db.close();
  }
}

const options = { timestamps: false };

export default sqlProgram({
  dialect: 'mysql',
  schema: `
    CREATE TABLE courses (
      id char(36) PRIMARY KEY, title varchar(80), teacher varchar(40), room varchar(20), starts_on date, ends_on date,
      seats int, price_cents int, language char(2), is_open boolean
    );
    CREATE TABLE enrollments (id char(36) PRIMARY KEY, courseId char(36) NOT NULL, person varchar(40), KEY (courseId));
    INSERT INTO courses VALUES ('${course}', 'Pottery', 'Cy', 'B 12', '2026-01-10', '2026-03-10', 2, 9900, 'en', true);
    INSERT INTO enrollments VALUES ('1c1d8a58-3a0c-4f6c-8a57-6c8e3a3b7a55', '${course}', 'Eve');
  `,
  sessions: {
    ann: (connection) => enroll(connection, '2b1f0a7e-0001-4c55-9a37-8f1f7d1c0a01', 'Ann'),
    ben: (connection) => enroll(connection, '2b1f0a7e-0002-4c55-9a37-8f1f7d1c0a02', 'Ben'),
  },
  invariant: (end) =>
    onMysql(end, async (client) => {
      const [rows] = await client.query<RowDataPacket[]>('SELECT person FROM enrollments');
      return rows.length <= 2 || `${rows.length} people have 2 seats`;
    }),
});
