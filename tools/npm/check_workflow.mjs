// Reads workflows and actions with GitHub's own parser and prints what it finds, one line each.
import {readFileSync} from "node:fs";
import {validate} from "@actions/languageservice";
import {TextDocument} from "vscode-languageserver-textdocument";

async function check(paths) {
  let found = 0;
  for (const path of paths) {
    const document = TextDocument.create(`file://${path}`, "yaml", 0, readFileSync(path, "utf8"));
    for (const problem of await validate(document, {})) {
      found += 1;
      console.log(`${path}:${problem.range.start.line + 1}: ${problem.message}`);
    }
  }
  return found;
}

check(process.argv.slice(2)).then((found) => process.exit(found ? 1 : 0));
