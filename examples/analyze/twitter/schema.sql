-- The tables of the Twitter benchmark.
CREATE TABLE user_profiles (
  uid int PRIMARY KEY,
  name varchar(255) NOT NULL,
  email varchar(255) NOT NULL,
  partitionid int NOT NULL,
  partitionid2 int NOT NULL,
  followers int NOT NULL
);
CREATE TABLE followers (
  f1 int NOT NULL REFERENCES user_profiles,
  f2 int NOT NULL REFERENCES user_profiles,
  PRIMARY KEY (f1, f2)
);
CREATE TABLE follows (
  f1 int NOT NULL REFERENCES user_profiles,
  f2 int NOT NULL REFERENCES user_profiles,
  PRIMARY KEY (f1, f2)
);
CREATE TABLE tweets (
  id bigint PRIMARY KEY,
  uid int NOT NULL REFERENCES user_profiles,
  text varchar(140) NOT NULL,
  createdate timestamp NOT NULL
);
CREATE TABLE added_tweets (
  id bigint PRIMARY KEY,
  uid int NOT NULL REFERENCES user_profiles,
  text varchar(140) NOT NULL,
  createdate timestamp NOT NULL
);
