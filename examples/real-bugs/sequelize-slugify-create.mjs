/** sequelize-slugify: two requests create a post of the same title; each gets the slug that was free when it looked. */
import pg from 'pg';
import { sqlProgram } from 'moirai';
import sequelize from 'sequelize-6.8.0';

const { Sequelize, DataTypes } = sequelize;

/** @param SequelizeSlugify the library, of one version */
export function createPost(SequelizeSlugify) {
  const create = async ({ connect }) => {
    // Sequelize passes no stream on to the driver.
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
    const Post = db.define('post', { title: DataTypes.STRING, slug: DataTypes.STRING }, { timestamps: false });
    SequelizeSlugify.slugifyModel(Post, { source: ['title'] });
    try {
      return (await Post.create({ title: 'Hello World' })).slug;
    } finally {
      await db.close();
    }
  };
  return sqlProgram({
    dialect: 'postgres',
    schema: 'CREATE TABLE posts (id serial PRIMARY KEY, title varchar(255), slug varchar(255))',
    sessions: { alice: create, bob: create },
    invariant: ({ results: { alice, bob } }) => alice !== bob || `two posts have the slug ${alice}`,
  });
}
