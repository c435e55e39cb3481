import SequelizeSlugify from 'sequelize-slugify-1.6.2';
import { createPost } from './sequelize-slugify-create.mjs';

export default createPost(SequelizeSlugify);
