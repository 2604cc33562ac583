use super::*;

/// A file with every key that operators of earlier daemons have.
const EARLIER: &str = r#"
[daemon]
listen = "0.0.0.0:9820"
status_listen = "127.0.0.1:9821"

[srs]
param_cache = "/data/params"
preload = ["porep-32g", "snap-32g"]

[memory]
total_budget = "256GiB"
safety_margin = "5GiB"
eviction_min_idle = "5m"
pinned_budget = "50GiB"
working_memory_budget = "100GiB"

[gpus]
devices = [0]
gpu_threads = 32
gpu_workers_per_device = 2

[scheduler]
max_batch_size = 1
max_batch_wait_ms = 10000
sort_by_type = true

[synthesis]
threads = 96
partition_workers = 12

[pipeline]
enabled = true
synthesis_lookahead = 3
synthesis_concurrency = 2

[logging]
level = "info"
format = "json"
"#;

fn parse(text: &str) -> Result<Config, ConfigError> {
    parse_with(text, &Args::default(), &[])
}

fn parse_with(text: &str, args: &Args, env: &[(&str, &str)]) -> Result<Config, ConfigError> {
    let variable = |name: &str| {
        let set = env.iter().find(|(key, _)| *key == name);
        set.map(|(_, value)| value.into())
    };
    Config::parse(text, args, variable)
}

fn refusal(text: &str) -> String {
    parse(text).expect_err(text).to_string()
}

#[test]
fn a_file_of_an_earlier_daemon_is_accepted() {
    let config = parse(EARLIER).expect("accepted");
    assert_eq!(config.listen, Listen::Tcp("0.0.0.0:9820".into()));
    assert_eq!(config.status_listen, Some(([127, 0, 0, 1], 9821).into()));
    assert_eq!(config.param_cache, Path::new("/data/params"));
    let preload: Vec<String> = config.preload.iter().map(ToString::to_string).collect();
    assert_eq!(preload, ["porep-32g", "snap-32g"]);
    assert_eq!(config.total_budget, Budget::Bytes(256 << 30));
    assert_eq!(config.safety_margin, 5 << 30);
    assert_eq!(config.eviction_min_idle, Duration::from_secs(300));
    assert_eq!(config.devices, Devices::Only(vec![0]));
    assert_eq!(config.threads, Some(96));
    assert_eq!(config.limits(8).lookahead, 3);
    assert_eq!(config.log_format, LogFormat::Json);
}

#[test]
fn each_key_that_steers_nothing_is_warned_about_once() {
    let warnings = parse(EARLIER).expect("accepted").warnings;
    let replaced = keys::KEYS
        .iter()
        .filter(|k| matches!(k.2, Role::Replaced(_)));
    let names: Vec<String> = replaced.map(|k| format!("{}.{} ", k.0, k.1)).collect();
    assert_eq!(warnings.len(), names.len());
    for name in names {
        let about = warnings.iter().filter(|w| w.starts_with(&name));
        assert_eq!(about.count(), 1, "{name}");
    }
    assert!(parse("").expect("accepted").warnings.is_empty());
}

#[test]
fn without_a_file_the_service_is_for_this_machine_only() {
    let config = parse("").expect("accepted");
    assert_eq!(config.listen, Listen::Tcp("127.0.0.1:9820".into()));
    assert_eq!(config.status_listen, None);
    assert_eq!(config.total_budget, Budget::Auto);
    assert_eq!(config.param_cache, Path::new(DEFAULT_PARAM_CACHE));
    assert_eq!(config.threads, None);
}

#[test]
fn an_unknown_key_names_the_nearest() {
    let near = refusal("[memory]\ntotal_buget = \"auto\"");
    assert!(near.contains("memory.total_buget"), "{near}");
    assert!(near.contains("\"memory.total_budget\""), "{near}");
    let misplaced = refusal("[daemon]\npreload = []");
    assert!(misplaced.contains("\"srs.preload\""), "{misplaced}");
    let section = refusal("[deamon]\nlisten = \"127.0.0.1:1\"");
    assert!(section.contains("[daemon]"), "{section}");
    let outside = refusal("listen = \"127.0.0.1:1\"");
    assert!(outside.contains("\"listen\""), "{outside}");
}

#[test]
fn every_used_key_is_looked_at_and_named_when_its_value_is_wrong() {
    for (section, key, role) in keys::KEYS {
        // No key takes a date.
        let text = format!("[{section}]\n{key} = 1979-05-27");
        match role {
            Role::Used => {
                let error = refusal(&text);
                assert!(error.contains(&format!("{section}.{key}: ")), "{error}");
                assert!(error.contains("1979-05-27"), "{error}");
                assert!(error.contains("expected"), "{error}");
            }
            Role::Replaced(_) => assert!(parse(&text).is_ok(), "{text}"),
        }
    }
}

#[test]
fn what_the_file_states_wins_over_what_the_devices_call_for() {
    let with = |text: &str, devices| {
        let limits = parse(text).expect("accepted").limits(devices);
        (limits.running_jobs, limits.lookahead)
    };
    assert_eq!(with("", 1), (2, 2));
    assert_eq!(with("", 9), (10, 9));
    assert_eq!(with("[limits]\nrunning_jobs = 1", 9), (1, 9));
    assert_eq!(with("[pipeline]\nsynthesis_lookahead = 1", 9), (10, 1));
    assert_eq!(with("[limits]\nrunning_jobs = 50", 2), (50, 2));
}

#[test]
fn several_devices_have_caps_of_their_own() {
    let text = "[gpus]\ndevices = [1, 0]\nmemory = [\"24GiB\", \"80GiB\"]";
    let config = parse(text).expect("accepted");
    assert_eq!(config.devices, Devices::Only(vec![1, 0]));
    let caps = [0, 1, 2].map(|place| config.device_memory.cap(place));
    assert_eq!(caps, [Some(24 << 30), Some(80 << 30), None]);
}

#[test]
fn requests_on_their_way_may_take_a_share_of_the_memory() {
    let with = |text: &str, memory| parse(text).expect("accepted").arriving_bytes(memory);
    assert_eq!(with("", 64 << 30), 8 << 30);
    assert_eq!(with("", 1 << 30), 257 << 20, "the largest request passes");
    let stated = "[limits]\narriving_bytes = \"1GiB\"";
    assert_eq!(with(stated, 64 << 30), 1 << 30);
    let small = refusal("[limits]\narriving_bytes = \"1MiB\"");
    assert!(
        small.contains("found 1048576, expected 269484032 or more"),
        "{small}"
    );
}

#[test]
fn values_out_of_range_are_refused() {
    for text in [
        "[limits]\njobs = 0",
        "[limits]\njobs = -1",
        "[limits]\nrunning_jobs = 0",
        "[pipeline]\nsynthesis_lookahead = 0",
        "[memory]\ntotal_budget = \"lots\"",
        "[memory]\nsafety_margin = -5",
        "[daemon]\nlisten = \"9820\"",
        "[daemon]\nlisten = \"127.0.0.1:70000\"",
        "[daemon]\nlisten = \"unix://relative\"",
        "[daemon]\nstatus_listen = \"everywhere\"",
        "[srs]\npreload = [\"porep-33g\"]",
        "[srs]\nparam_cache = \"\"",
        "[gpus]\ndevices = [0, 0]",
        "[logging]\nlevel = \"loud\"",
        "[logging]\nformat = \"xml\"",
        "[daemon",
    ] {
        assert!(parse(text).is_err(), "{text}");
    }
}

#[test]
fn the_command_line_wins_over_the_file_and_the_file_over_the_environment() {
    let env = [(PARAM_CACHE_VARIABLE, "/env/params"), ("HOME", "/home/o")];
    let config = parse_with("", &Args::default(), &env).expect("accepted");
    assert_eq!(config.param_cache, Path::new("/env/params"));
    assert_eq!(config.state_dir, Path::new("/home/o/.local/state/cuzk"));

    let config = parse_with(EARLIER, &Args::default(), &env).expect("accepted");
    assert_eq!(config.param_cache, Path::new("/data/params"));

    let args = Args {
        listen: Some("unix:///run/cuzk.sock".into()),
        status_listen: Some("off".into()),
        log_level: Some("debug".into()),
        param_cache: Some("/arg/params".into()),
        state_dir: Some("/arg/state".into()),
        ..Args::default()
    };
    let config = parse_with(EARLIER, &args, &env).expect("accepted");
    assert_eq!(config.listen, Listen::Unix("/run/cuzk.sock".into()));
    assert_eq!(config.status_listen, None);
    assert_eq!(config.log_level, "debug");
    assert_eq!(config.param_cache, Path::new("/arg/params"));
    assert_eq!(config.state_dir, Path::new("/arg/state"));

    let wrong = Args {
        listen: Some("nowhere".into()),
        ..Args::default()
    };
    let error = parse_with("", &wrong, &[])
        .expect_err("no address")
        .to_string();
    assert!(
        error.contains("--listen") && error.contains("nowhere"),
        "{error}"
    );
}

#[test]
fn a_missing_file_is_named() {
    let args = Args {
        config: Some("/no/such/cuzk.toml".into()),
        ..Args::default()
    };
    let error = Config::load(&args, |_| None)
        .expect_err("missing")
        .to_string();
    assert!(error.contains("/no/such/cuzk.toml"), "{error}");
}
