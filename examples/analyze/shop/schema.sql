CREATE TABLE products (id int PRIMARY KEY, name text NOT NULL, price int NOT NULL, stock int NOT NULL CHECK (stock >= 0));
CREATE TABLE customers (id int PRIMARY KEY, name text NOT NULL, balance int NOT NULL);
CREATE TABLE points (customer int PRIMARY KEY REFERENCES customers, amount int NOT NULL);
CREATE TABLE orders (
  id serial PRIMARY KEY,
  customer int NOT NULL REFERENCES customers,
  product int NOT NULL REFERENCES products,
  quantity int NOT NULL
);
CREATE TABLE totals (day int PRIMARY KEY, sales int NOT NULL);
CREATE TABLE revenues (day int PRIMARY KEY, amount int NOT NULL);
