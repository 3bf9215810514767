//! A JSON schema of a file of the project, by which tests judge what the program writes.

use std::fs;
use std::path::Path;

use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::Value;

pub(crate) struct Schema(Schemas, SchemaIndex);

impl Schema {
    pub(crate) fn read(file: &str) -> Result<Self, String> {
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file));
        let schema: Value = serde_json::from_str(&text.map_err(|error| error.to_string())?)
            .map_err(|error| format!("{file}: {error}"))?;
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        compiler.add_resource(file, schema).map_err(|error| error.to_string())?;
        let index = compiler.compile(file, &mut schemas).map_err(|error| error.to_string())?;
        Ok(Self(schemas, index))
    }

    /// Returns what is wrong with a value.
    pub(crate) fn problem(&self, value: &Value) -> Option<String> {
        self.0.validate(value, self.1).err().map(|error| error.to_string())
    }
}
