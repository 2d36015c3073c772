import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type GadgetFolder, gadgetFolder } from "./_gadgets.ts";

/** A world with a small database `app.db`. */
async function worldWithDatabase(options: Parameters<typeof gadgetFolder>[0] = {}): Promise<GadgetFolder> {
  const world = await gadgetFolder(options);
  const database = new DatabaseSync(join(world.root, "app.db"));
  database.exec(`
    CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, age, photo BLOB);
    INSERT INTO users VALUES (1, 'Ada', 36, x'00ff'), (2, 'Grace', 85.5, NULL), (9007199254740993, 'Big', 1e999, NULL);
    CREATE VIEW adults AS SELECT * FROM users WHERE age >= 18;
  `);
  database.close();
  return world;
}

const query = (world: GadgetFolder, sql: string, more: Record<string, unknown> = {}) =>
  world.call("SqlQuery", { database: "app.db", sql, ...more });
const why = (world: GadgetFolder, sql: string, more: Record<string, unknown> = {}) =>
  world.error("SqlQuery", { database: "app.db", sql, ...more });

Deno.test("SqlQuery: rows as JSON", async () => {
  await using world = await worldWithDatabase();
  assert.deepEqual(await query(world, "SELECT * FROM users ORDER BY id -- all\n;"), {
    columns: ["id", "name", "age", "photo"],
    rows: [
      { id: 1, name: "Ada", age: 36, photo: { base64: "AP8=" } },
      { id: 2, name: "Grace", age: 85.5, photo: null },
      { id: "9007199254740993", name: "Big", age: "Infinity", photo: null },
    ],
    truncated: false,
  });
  const odd = JSON.parse(
    '{"columns": ["id", "id_2", "__proto__"], "rows": [{"id": 1, "id_2": 2, "__proto__": 3}], "truncated": false}',
  );
  assert.deepEqual(await query(world, 'SELECT 1 AS id, 2 AS id, 3 AS "__proto__"'), odd);
  assert.deepEqual(await query(world, "SELECT name FROM users WHERE 0"), {
    columns: ["name"],
    rows: [],
    truncated: false,
  });
  assert.deepEqual(
    await query(world, "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c", {
      maxRows: 2,
    }),
    {
      columns: ["x"],
      rows: [{ x: 1 }, { x: 2 }],
      truncated: true,
    },
  );
  assert.deepEqual(
    await query(world, "SELECT name FROM users", { maxRows: 3 }).then((found) =>
      JSON.stringify(found).includes("false")
    ),
    true,
  );
});

Deno.test("SqlQuery: parameters", async () => {
  await using world = await worldWithDatabase();
  const rows = async (sql: string, parameters: unknown) => {
    const found = await query(world, sql, { parameters });
    assert.ok(typeof found === "object" && found !== null && "rows" in found);
    return found.rows;
  };
  assert.deepEqual(await rows("SELECT ? AS a, ? AS b, ?1 AS c", [1, "x' OR 1=1 --"]), [{
    a: 1,
    b: "x' OR 1=1 --",
    c: 1,
  }]);
  assert.deepEqual(await rows("SELECT :a AS a, @b AS b, $c AS c", { a: true, b: null, $c: 1.5 }), [{
    a: 1,
    b: null,
    c: 1.5,
  }]);
  assert.deepEqual(await rows("SELECT typeof(?) AS t", [9007199254740991]), [{ t: "integer" }]);
  assert.deepEqual(await rows("SELECT name FROM users WHERE photo = ?", [{ base64: "AP8=" }]), [{
    name: "Ada",
  }]);
  assert.deepEqual(await rows("SELECT '?' AS q -- ?\n", []), [{ q: "?" }]);
  assert.match(
    await why(world, "SELECT ?, ?", { parameters: [1] }),
    /it has 2 variables "\?", but "parameters" holds 1 value$/,
  );
  assert.match(await why(world, "SELECT ?"), /it has 1 variable "\?", but "parameters" holds 0 values/);
  assert.match(
    await why(world, "SELECT ?", { parameters: { a: 1 } }),
    /"parameters" is an object, but the SQL has 1 variable "\?", which takes a list/,
  );
  assert.match(
    await why(world, "SELECT :name", { parameters: ["x"] }),
    /it has the variable ":name"; pass "parameters" as an object \{"name": …\}/,
  );
  assert.match(
    await why(world, "SELECT :name", { parameters: { nmae: 1 } }),
    /"parameters\/nmae" is no variable of it\. Did you mean "name"\?/,
  );
  assert.match(await why(world, "SELECT :a, :b", { parameters: { a: 1 } }), /the variable ":b" has no value/);
  assert.match(await why(world, "SELECT :a, ?", { parameters: [1] }), /both "\?" and ":a"/);
  assert.match(
    await why(world, "SELECT ?", { parameters: [[1]] }),
    /Cannot use "parameters\/0": expected a text/,
  );
  assert.match(
    await why(world, "SELECT ?", { parameters: [{ base64: "*" }] }),
    /"parameters\/0\/base64": it is not base64/,
  );
});

Deno.test("SqlQuery: writes only when it is told to", async () => {
  await using world = await worldWithDatabase();
  assert.deepEqual(
    await query(world, "INSERT INTO users(name, age) VALUES (?, ?), ('Alan', 41)", {
      write: true,
      parameters: ["Edsger", 72],
    }),
    {
      columns: [],
      rows: [],
      truncated: false,
      changes: 2,
      lastInsertRowid: "9007199254740995",
    },
  );
  assert.deepEqual(
    await query(world, "UPDATE users SET age = age + 1 WHERE id < 3 RETURNING id, age", {
      write: true,
      maxRows: 1,
    }),
    {
      columns: ["id", "age"],
      rows: [{ id: 1, age: 37 }],
      truncated: true,
      changes: 2,
    },
  );
  assert.deepEqual(await query(world, "SELECT age FROM users WHERE id = 2"), {
    columns: ["age"],
    rows: [{ age: 86.5 }],
    truncated: false,
  });
  const trigger =
    "CREATE TRIGGER t AFTER DELETE ON users BEGIN SELECT CASE WHEN 1 THEN 2 END; DELETE FROM users WHERE id = 2; END;";
  assert.deepEqual(await query(world, trigger, { write: true }), {
    columns: [],
    rows: [],
    truncated: false,
    changes: 0,
  });
  await query(world, "DELETE FROM users WHERE id = 1", { write: true });
  assert.deepEqual(await query(world, "SELECT count(*) AS n FROM users WHERE id < 3"), {
    columns: ["n"],
    rows: [{ n: 0 }],
    truncated: false,
  });
  for (const sql of ["VACUUM", "PRAGMA user_version = 7", "PRAGMA optimize", "ANALYZE", "DROP VIEW adults"]) {
    await query(world, sql, { write: true });
  }
  assert.deepEqual(await query(world, "PRAGMA user_version"), {
    columns: ["user_version"],
    rows: [{ user_version: 7 }],
    truncated: false,
  });

  for (
    const sql of [
      "INSERT INTO users(name) VALUES ('x')",
      "/* a */ delete from users",
      "create table x(a)",
      "PRAGMA user_version = 3",
    ]
  ) {
    assert.match(await why(world, sql), /it changes the database; pass "write": true$/, sql);
  }
  assert.match(
    await why(world, "WITH x AS (SELECT 1) INSERT INTO users(name) SELECT 'y' FROM x"),
    /attempt to write a readonly database; pass "write": true to change the database/,
  );
});

Deno.test("SqlQuery: needs the permissions of its file", async () => {
  await using world = await worldWithDatabase({ allow: {} });
  assert.match(
    await why(world, "DELETE FROM users", { write: true }),
    /Writing "app\.db" is not allowed: add --allow-write=app\.db/,
  );
  await using denied = await worldWithDatabase({ allow: { write: ["app.db"] }, deny: { read: ["app.db"] } });
  assert.match(await why(denied, "SELECT 1", { write: true }), /Reading "app\.db" is not allowed/);
  await using linked = await gadgetFolder();
  await Deno.symlink(join(world.root, "app.db"), join(linked.root, "app.db"));
  assert.match(await why(linked, "SELECT 1"), /Reading .* is not allowed/);
});

Deno.test("SqlQuery: a database that is not there, or is none", async () => {
  await using world = await gadgetFolder({
    files: { "text.txt": "this is only text, and not a database\n".repeat(50), "sub/x": "" },
  });
  const error = (database: string, more = {}) =>
    world.error("SqlQuery", { database, sql: "SELECT 1 FROM sqlite_schema", ...more });
  assert.equal(
    await error("nope.db"),
    'Cannot open the database "nope.db": no such file; it is made only with "write": true',
  );
  assert.equal(
    await error(":memory:"),
    'Cannot open the database ":memory:": no such file; it is made only with "write": true',
  );
  assert.equal(await error("sub"), 'Cannot open the database "sub": it is a folder');
  assert.equal(await error("text.txt"), 'Cannot read "text.txt": it is not an SQLite database');
  assert.equal(
    await error("no/such/folder.db", { write: true }),
    'Cannot open the database "no/such/folder.db": unable to open database file',
  );
  assert.deepEqual([...Deno.readDirSync(world.root)].map(({ name }) => name).toSorted(), ["sub", "text.txt"]);
  await world.call("SqlQuery", { database: "new.db", sql: "CREATE TABLE t(a)", write: true });
  assert.deepEqual(
    await world.call("SqlQuery", { database: "new.db", sql: "SELECT name FROM sqlite_schema" }),
    {
      columns: ["name"],
      rows: [{ name: "t" }],
      truncated: false,
    },
  );
});

Deno.test("SqlQuery: nothing leaves the file", async () => {
  await using world = await worldWithDatabase();
  const other = join(world.root, "other.db");
  const refused: readonly (readonly [string, RegExp])[] = [
    [`ATTACH '${other}' AS o`, /Cannot run ATTACH in line 1, column 1: it would open another file/],
    [`  -- x\n /* SELECT */ attach database '${other}' as o`, /Cannot run ATTACH in line 2, column 15/],
    ["DETACH main", /Cannot run DETACH/],
    [`VACUUM INTO '${other}'`, /Cannot run VACUUM INTO in line 1, column 1: it would write another file/],
    [`VACUUM main INTO '${other}'`, /Cannot run VACUUM INTO/],
    [`EXPLAIN VACUUM INTO '${other}'`, /Cannot run VACUUM INTO/],
    [
      `SELECT 1; ATTACH '${other}' AS o`,
      /Cannot run more than one statement: found "ATTACH" in line 1, column 11 after the end of the first/,
    ],
    [`SELECT ';' ; -- x\n /* y */ ; DROP TABLE users`, /found "DROP" in line 2, column 12/],
    [`;;ATTACH '${other}' AS o`, /Cannot run ATTACH/],
    [`EXPLAIN QUERY PLAN ATTACH '${other}' AS o`, /Cannot run ATTACH/],
    [`CREATE TRIGGER t AFTER DELETE ON users BEGIN SELECT 1; END; ATTACH '${other}' AS o`, /found "ATTACH"/],
    ["BEGIN", /Cannot run BEGIN in line 1, column 1: each call is one statement in a transaction of its own/],
    ["COMMIT", /Cannot run COMMIT/],
    [
      "PRAGMA temp_store_directory = '/tmp'",
      /Cannot run PRAGMA "temp_store_directory" in line 1, column 1: expected one of/,
    ],
    ["PRAGMA journal_mode = WAL", /Cannot set PRAGMA journal_mode in line 1, column 1: it can only be read/],
    ["PRAGMA main.journal_mode(DELETE)", /Cannot set PRAGMA journal_mode/],
    ["EXPLAIN PRAGMA journal_mode = WAL", /Cannot set PRAGMA journal_mode/],
    ['PRAGMA "writable_schema" = 1', /Cannot run PRAGMA/],
    ["PRAGMA tabel_info(users)", /Did you mean "table_info"\?/],
    ["SELECT load_extension('/tmp/x.so')", /not authorized/],
    ["SELEC 1", /found "SELEC" in line 1, column 1, expected one of SELECT, .*Did you mean "SELECT"\?/],
    ["[ATTACH] 'x'", /found "\[ATTACH\]"/],
    ["", /sql/],
    [" -- nothing", /it holds no statement/],
    [";", /it holds no statement/],
    ["/* never closed", /it holds no statement/],
    ["\uFEFF", /it holds no statement/],
    ["EXPLAIN", /Cannot run EXPLAIN in line 1, column 8: no statement follows/],
    ["SELECT 'a\0b'", /found a NUL character in line 1, column 10/],
    ["SELECT 'open", /the ' in line 1, column 8 is not closed/],
    ['SELECT "o""pen', /the " in line 1, column 8 is not closed/],
  ];
  for (const [sql, message] of refused) assert.match(await why(world, sql, { write: true }), message, sql);
  await assert.rejects(Deno.stat(other), Deno.errors.NotFound);
});

Deno.test("SqlQuery: errors say where and what to do", async () => {
  await using world = await worldWithDatabase();
  assert.equal(
    await why(world, "SELECT name\nFROM users\nWHERE WHERE age > 1"),
    'Cannot run the SQL: near "WHERE": syntax error in line 3, column 7',
  );
  assert.equal(await why(world, "SELECT (1"), "Cannot run the SQL: incomplete input in line 1, column 10");
  assert.equal(
    await why(world, "SELECT *\nFROM uesrs"),
    'Cannot run the SQL: no such table: uesrs in line 2, column 6. Did you mean "users"? The tables are adults, users',
  );
  assert.equal(
    await why(world, "SELECT u.nmae FROM users AS u"),
    'Cannot run the SQL: no such column: u.nmae in line 1, column 10. Did you mean "name"? The columns are id, name, age, photo',
  );
  assert.match(await why(world, "SELECT nosuch(1)"), /no such function: nosuch in line 1, column 8/);
  assert.match(
    await why(world, "INSERT INTO users(name) VALUES ('Ada')", { write: true }),
    /UNIQUE constraint failed: users\.name/,
  );
  assert.match(await why(world, "SELECT 1", { rows: 1 }), /rows/);
  const late = "SELECT abs(v) FROM (SELECT 1 AS v UNION ALL SELECT -9223372036854775808)";
  assert.equal(await why(world, late), "Cannot run the SQL: integer overflow");
  assert.match(
    await why(world, "INSERT INTO users(id, name) VALUES (1, 'x') RETURNING id", { write: true }),
    /UNIQUE constraint failed: users\.id/,
  );
});

Deno.test("SqlQuery: a locked database", async () => {
  await using world = await worldWithDatabase();
  const other = new DatabaseSync(join(world.root, "app.db"));
  other.exec("BEGIN EXCLUSIVE");
  try {
    assert.match(
      await why(world, "DELETE FROM users", { write: true }),
      /database is locked; another program is writing to it, so try again later/,
    );
  } finally {
    other.exec("ROLLBACK");
    other.close();
  }
});
