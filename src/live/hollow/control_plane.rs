//! A control plane of real programs on the loopback interface: etcd, kube-apiserver, kube-controller-manager,
//! kube-scheduler, with fresh certificates, Node and RBAC authorisation and NodeRestriction.
//!
//! Inputs: the programs, a release's settings, the scenario's flags. Outputs: an [`Access`] once `/readyz` succeeds, or
//! the reason with the last lines of the program that did not start. All files are in a temporary directory that is
//! removed with the control plane. The audit log is on where a run is recorded. Left out on purpose: the front proxy of
//! the aggregation layer; etcd does not fsync.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nodeproof_core::network::{Call, Resource, Target, Verb};
use nodeproof_core::objects::{Text, base64};
use nodeproof_core::profile::Settings;
use serde_json::json;
use tokio::process::Command;

use super::processes::{DIRECTORY_PREFIX, Processes};
use crate::live::assets::Assets;
use crate::live::certificates::{Authority, Certified, write};
use crate::live::flags::{Flags, of_program};
use crate::live::kubelets::{HollowNodes, Server, Signer};
use crate::live::timing::{HEALTH_PERIOD, HEALTH_TIMEOUT, READY_PAUSE, READY_WAIT};
use crate::live::{Access, Caller, Clock, record};

/// How often the start is tried when another process has taken a port.
const TRIES: u32 = 3;
/// The file of the audit log.
const AUDIT_LOG: &str = "audit.log";
/// The kubeconfig of an administrator, for kubectl.
const ADMIN: &str = "admin.kubeconfig";
/// Flags of this program's own choice that change how a program behaves.
const TOLD: [&str; 4] =
    ["authorization-mode", "enable-admission-plugins", "leader-elect", "use-service-account-credentials"];

/// What a control plane's programs log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Logging {
    /// Their default logs.
    Usual,
    /// The sources of a recording: the API server's audit log, and the passes of two controllers.
    Recorded,
}

/// A running control plane; it ends when this is dropped.
#[derive(Debug)]
pub struct ControlPlane {
    access: Access,
    authority: Arc<Authority>,
    server: String,
    processes: Mutex<Processes>,
    /// The last state of etcd, and when it was asked.
    health: Mutex<(Instant, Option<String>)>,
    etcd: u16,
    assets: Assets,
    directory: PathBuf,
    /// The command of each program, to start it again.
    commands: Vec<ProgramCommand>,
    /// The names of the flags that change how programs behave.
    told: Vec<String>,
    /// How long it took until it was ready.
    pub ready_after: Duration,
}

/// A program's name, where it is, and its arguments.
type ProgramCommand = (&'static str, PathBuf, Vec<String>);

impl ControlPlane {
    /// Starts the programs and waits until they are ready. Blocks; not to be called from a runtime.
    ///
    /// # Errors
    /// A program does not run or does not become ready; the text holds its last lines.
    pub fn start(assets: &Assets, flags: &Flags, logging: Logging) -> Result<Self, String> {
        let mut last = String::new();
        for _ in 0..TRIES {
            match Self::try_start(assets, flags, logging) {
                // Another process has taken the port in between.
                Err(why) if why.contains("address already in use") => last = why,
                done => return done,
            }
        }
        Err(last)
    }

    fn try_start(assets: &Assets, flags: &Flags, logging: Logging) -> Result<Self, String> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let started = Instant::now();
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{DIRECTORY_PREFIX}{}-{number}", std::process::id());
        let mut processes = Processes::new(std::env::temp_dir().join(name))?;
        let place = processes.directory().to_owned();
        let ports = Ports::free()?;
        let authority = Arc::new(Authority::new()?);
        let server = format!("https://127.0.0.1:{}", ports.api);
        let mut commands = commands(assets, &place, &ports, &authority, &server, flags)?;
        if logging == Logging::Recorded {
            log_for_recording(&mut commands, &place)?;
        }
        for (name, program, arguments) in &commands[..2] {
            processes.start(name, program, arguments)?;
        }
        let admin = authority.client("nodeproof", Some("system:masters"))?;
        let admin = kubeconfig(&server, authority.pem(), &admin);
        write(&place.join(ADMIN), &admin)?;
        let access = Access::from_kubeconfig(&admin)?;
        let name = |(flag, _): &(Text, Text)| flag.rsplit('.').next().unwrap_or_default().to_owned();
        let told = TOLD.iter().map(|flag| (*flag).to_owned()).chain(flags.iter().map(name)).collect();
        let processes = Mutex::new(processes);
        let mut plane = Self {
            access,
            authority,
            server,
            processes,
            health: Mutex::new((Instant::now(), None)),
            etcd: ports.etcd,
            assets: assets.clone(),
            directory: place,
            commands,
            told,
            ready_after: Duration::ZERO,
        };
        plane.await_ready(started)?;
        plane.ready_after = started.elapsed();
        Ok(plane)
    }

    /// Returns how to reach it.
    #[must_use]
    pub const fn access(&self) -> &Access {
        &self.access
    }

    /// Prepares hollow nodes whose certificates this control plane's authority signs; they live on the current runtime.
    ///
    /// # Errors
    /// The authority cannot be used.
    pub fn nodes(&self, settings: &Settings, seed: u64) -> Result<HollowNodes, String> {
        let told = |error: crate::live::kubelets::CredentialsError| error.to_string();
        let server = Server::new(&self.server, &[self.authority.der().to_vec()], None).map_err(told)?;
        let signer = Signer::Authority(Arc::clone(&self.authority));
        Ok(HollowNodes::new(server, signer, settings.clone(), seed, Clock::new()))
    }

    /// Returns a command that runs kubectl as an administrator. It knows no configuration of the user of this program.
    ///
    /// # Errors
    /// There is no kubectl of this release.
    pub fn kubectl(&self, arguments: &[String]) -> Result<Command, String> {
        let mut command = Command::new(self.assets.kubectl()?);
        command.args(arguments).env("KUBECONFIG", self.directory.join(ADMIN)).env("HOME", &self.directory);
        command.env_remove("KUBERC");
        Ok(command)
    }

    /// Returns the audit log and the controller manager's log.
    ///
    /// # Errors
    /// A log cannot be read, since nothing is recorded here.
    pub fn logs(&self) -> Result<(String, String), String> {
        let processes = self.processes.lock().map_err(|_| "a start has failed before".to_owned())?;
        let read = |name: &str| {
            let path = processes.directory().join(name);
            fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))
        };
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ok((text(read(AUDIT_LOG)?), text(read("kube-controller-manager.log")?)))
    }

    /// Returns the flags of each Kubernetes program that change how it behaves, without those that name files.
    #[must_use]
    pub fn flags(&self) -> Vec<(String, Vec<String>)> {
        let is_told = |argument: &&String| self.told.iter().any(|flag| argument.starts_with(&format!("--{flag}=")));
        let of = |(name, _, arguments): &ProgramCommand| {
            ((*name).to_owned(), arguments.iter().filter(is_told).cloned().collect())
        };
        self.commands[1..].iter().map(of).collect()
    }

    /// Ends one of its programs.
    pub fn stop(&self, program: &str) {
        if let Ok(mut processes) = self.processes.lock() {
            processes.stop(program);
        }
    }

    /// Starts one of its programs again with the same command.
    ///
    /// # Errors
    /// It does not run.
    pub fn restart(&self, program: &str) -> Result<(), String> {
        let Some((name, path, arguments)) = self.commands.iter().find(|(name, ..)| *name == program) else {
            return Err(format!("there is no program {program}"));
        };
        let mut processes = self.processes.lock().map_err(|_| "a start has failed before".to_owned())?;
        processes.start(name, path, arguments)
    }

    /// Returns what is wrong: a program that has ended, with its last lines, or a store that accepts no writes.
    #[must_use]
    pub fn trouble(&self) -> Option<String> {
        let ended = {
            let mut processes = self.processes.lock().ok()?;
            processes.ended().map(|(name, how)| format!("{name} {how}{}", lines(&processes.last_lines(name))))
        };
        ended.or_else(|| self.store_trouble())
    }

    /// Asks etcd for its health; callers within a short time share the answer.
    fn store_trouble(&self) -> Option<String> {
        let mut health = self.health.lock().ok()?;
        if health.0.elapsed() > HEALTH_PERIOD {
            *health = (Instant::now(), etcd_trouble(self.etcd));
        }
        health.1.clone()
    }

    /// Waits for the API server, then starts the programs that need it and waits for their first results.
    fn await_ready(&self, started: Instant) -> Result<(), String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| format!("no runtime: {error}"))?;
        runtime.block_on(async {
            let caller = self.access.caller().await?;
            self.await_answer(&caller, &path("/readyz"), "kube-apiserver", started).await?;
            for (name, ..) in &self.commands[2..] {
                self.restart(name)?;
            }
            // The first service account shows that the controllers run; pods need it.
            let accounts = Resource::of("", "v1", "serviceaccounts");
            let account = Call::new(Verb::Get, accounts, "default", "default");
            self.await_answer(&caller, &account, "kube-controller-manager", started).await
        })
    }

    async fn await_answer(&self, caller: &Caller, call: &Call, program: &str, started: Instant) -> Result<(), String> {
        loop {
            let answer = caller.ask(call).await;
            if answer.code == 200 {
                return Ok(());
            }
            if let Some(trouble) = self.trouble() {
                return Err(trouble);
            }
            if started.elapsed() > READY_WAIT {
                let last = self.processes.lock().map(|processes| processes.last_lines(program)).unwrap_or_default();
                let waited = READY_WAIT.as_secs();
                return Err(format!(
                    "{program} is not ready after {waited}s: {} {}{}",
                    answer.code,
                    answer.message,
                    lines(&last)
                ));
            }
            tokio::time::sleep(READY_PAUSE).await;
        }
    }
}

/// Asks the etcd at a port for its health: with an alarm it accepts no writes.
///
/// Source: go.etcd.io/etcd server/etcdserver/api/etcdhttp/health.go (v3.6), `/health`.
fn etcd_trouble(port: u16) -> Option<String> {
    let mut stream = TcpStream::connect_timeout(&([127, 0, 0, 1], port).into(), HEALTH_TIMEOUT).ok()?;
    stream.set_read_timeout(Some(HEALTH_TIMEOUT)).ok()?;
    stream.write_all(b"GET /health HTTP/1.0\r\n\r\n").ok()?;
    let mut text = String::new();
    // A store that does not answer may be busy; whether it lives is checked elsewhere.
    stream.read_to_string(&mut text).ok()?;
    let body = text.split_once("\r\n\r\n")?.1;
    let said: serde_json::Value = serde_json::from_str(body).ok()?;
    let reason = said["reason"].as_str().unwrap_or_default();
    (said["health"] == "false").then(|| format!("etcd is not in order: {reason}"))
}

fn path(path: &'static str) -> Call {
    let mut call = Call::new(Verb::Get, Resource::of("", "", ""), "", "");
    call.target = Target::Path(Text::of(path));
    call
}

/// Returns lines, indented below a text.
fn lines(lines: &[String]) -> String {
    lines.iter().map(|line| format!("\n      {line}")).collect()
}

struct Ports {
    etcd: u16,
    peer: u16,
    api: u16,
    manager: u16,
    scheduler: u16,
}

impl Ports {
    /// Finds free ports; all are held until the last is found.
    fn free() -> Result<Self, String> {
        let mut held = Vec::new();
        let mut next = || {
            let unheld = |error| format!("no port is free: {error}");
            let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(unheld)?;
            let port = listener.local_addr().map_err(unheld)?.port();
            held.push(listener);
            Ok::<u16, String>(port)
        };
        Ok(Self { etcd: next()?, peer: next()?, api: next()?, manager: next()?, scheduler: next()? })
    }
}

/// Writes a kubeconfig as JSON, which is YAML as well.
fn kubeconfig(server: &str, authority: &str, who: &Certified) -> String {
    let cluster = json!({"server": server, "certificate-authority-data": base64::encode(authority.as_bytes())});
    let user = json!({"client-certificate-data": base64::encode(who.certificate.as_bytes()),
        "client-key-data": base64::encode(who.key.as_bytes())});
    json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "nodeproof",
        "clusters": [{"name": "nodeproof", "cluster": cluster}],
        "users": [{"name": "nodeproof", "user": user}],
        "contexts": [{"name": "nodeproof", "context": {"cluster": "nodeproof", "user": "nodeproof"}}],
    })
    .to_string()
}

/// Returns the command lines of all programs, in the order of their start, and writes the files that they read.
fn commands(
    assets: &Assets,
    place: &Path,
    ports: &Ports,
    authority: &Authority,
    server: &str,
    flags: &Flags,
) -> Result<Vec<ProgramCommand>, String> {
    let file = |name: &str| place.join(name).display().to_string();
    write(&place.join("ca.crt"), authority.pem())?;
    write(&place.join("ca.key"), authority.key_pem())?;
    authority.server(&["127.0.0.1", "localhost", "kubernetes.default.svc"])?.write(place, "serving")?;
    authority.client("service-accounts", None)?.write(place, "service-accounts")?;
    for (name, user) in [("manager", "system:kube-controller-manager"), ("scheduler", "system:kube-scheduler")] {
        write(
            &place.join(format!("{name}.kubeconfig")),
            &kubeconfig(server, authority.pem(), &authority.client(user, None)?),
        )?;
    }
    let etcd = format!("http://127.0.0.1:{}", ports.etcd);
    let peer = format!("http://127.0.0.1:{}", ports.peer);
    let own = |flag: &str, value: &str| format!("--{flag}={value}");
    let of_etcd = vec![
        own("name", "nodeproof"),
        own("data-dir", &file("etcd")),
        own("listen-client-urls", &etcd),
        own("advertise-client-urls", &etcd),
        own("listen-peer-urls", &peer),
        own("initial-advertise-peer-urls", &peer),
        own("initial-cluster", &format!("nodeproof={peer}")),
        own("log-level", "warn"),
        "--unsafe-no-fsync".to_owned(),
    ];
    let of_api = vec![
        own("etcd-servers", &etcd),
        own("bind-address", "127.0.0.1"),
        own("advertise-address", "127.0.0.1"),
        own("endpoint-reconciler-type", "none"),
        own("secure-port", &ports.api.to_string()),
        own("cert-dir", &file("apiserver")),
        own("tls-cert-file", &file("serving.crt")),
        own("tls-private-key-file", &file("serving.key")),
        own("client-ca-file", &file("ca.crt")),
        own("authorization-mode", "Node,RBAC"),
        own("enable-admission-plugins", "NodeRestriction"),
        own("service-account-issuer", "https://kubernetes.default.svc"),
        own("service-account-key-file", &file("service-accounts.crt")),
        own("service-account-signing-key-file", &file("service-accounts.key")),
        own("service-cluster-ip-range", "10.96.0.0/16"),
        own("allow-privileged", "true"),
        own("profiling", "false"),
    ];
    let common = |name: &str, port: u16| {
        let kubeconfig = file(&format!("{name}.kubeconfig"));
        vec![
            own("kubeconfig", &kubeconfig),
            own("bind-address", "127.0.0.1"),
            own("secure-port", &port.to_string()),
            own("cert-dir", &file(name)),
            own("leader-elect", "false"),
            own("profiling", "false"),
        ]
    };
    let mut of_manager = common("manager", ports.manager);
    of_manager.extend([
        own("root-ca-file", &file("ca.crt")),
        own("service-account-private-key-file", &file("service-accounts.key")),
        own("use-service-account-credentials", "true"),
        own("cluster-signing-cert-file", &file("ca.crt")),
        own("cluster-signing-key-file", &file("ca.key")),
    ]);
    let of_scheduler = common("scheduler", ports.scheduler);
    let programs = [
        ("etcd", of_etcd),
        ("kube-apiserver", of_api),
        ("kube-controller-manager", of_manager),
        ("kube-scheduler", of_scheduler),
    ];
    Ok(programs
        .into_iter()
        .map(|(name, mut arguments)| {
            arguments.extend(flags_of(name, flags));
            (name, assets.path(name).to_owned(), arguments)
        })
        .collect())
}

/// Adds the flags with which programs log what a recording needs.
fn log_for_recording(commands: &mut [ProgramCommand], place: &Path) -> Result<(), String> {
    let policy = place.join("audit-policy.yaml");
    write(&policy, record::POLICY)?;
    let own = |flag: &str, value: &str| format!("--{flag}={value}");
    for (name, _, arguments) in commands {
        match *name {
            "kube-apiserver" => arguments.extend([
                own("audit-policy-file", &policy.display().to_string()),
                own("audit-log-path", &place.join(AUDIT_LOG).display().to_string()),
            ]),
            "kube-controller-manager" => arguments.extend([own("v", "2"), own("vmodule", record::VERBOSITY)]),
            _ => {}
        }
    }
    Ok(())
}

/// Returns the flags that a scenario sets on a program.
fn flags_of<'a>(program: &'a str, flags: &'a Flags) -> impl Iterator<Item = String> + 'a {
    // Feature gates apply to all programs but etcd.
    let gates = flags.iter().filter(move |(flag, _)| !flag.contains('.') && program != "etcd");
    let gates = gates.map(|(flag, value)| (flag.as_str(), value.as_str()));
    of_program(program, flags).chain(gates).map(|(flag, value)| format!("--{flag}={value}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_goes_to_the_program_that_has_it() {
        let flags = [
            (Text::of("kube-controller-manager.node-monitor-period"), Text::of("2s")),
            (Text::of("feature-gates"), Text::of("A=true")),
        ];
        let of = |program| flags_of(program, &flags).collect::<Vec<_>>();
        assert_eq!(of("kube-controller-manager"), ["--node-monitor-period=2s", "--feature-gates=A=true"]);
        assert_eq!(of("kube-scheduler"), ["--feature-gates=A=true"]);
        assert!(of("etcd").is_empty());
    }
}
