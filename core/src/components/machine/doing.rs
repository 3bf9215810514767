//! What is done to a machine.
//!
//! Inputs: actions. Outputs: a changed machine, or why not. Invariant: an action that does not fit changes nothing.

use super::*;

impl Machine {
    /// Performs an action on the machine.
    ///
    /// # Errors
    /// The action does not fit the machine's state, and nothing is changed; or the kubelet refuses to start.
    pub fn handle_action(&mut self, action: MachineAction, now: Timestamp) -> Result<(), MachineError> {
        let misuse = |text: &str| Err(MachineError::Misuse(text.to_string()));
        if let MachineAction::Behave { namespace, pod, behaviour } = action {
            let key = ObjectKey { namespace, name: pod };
            match &mut self.kubelet {
                Some(kubelet) => kubelet.behave(&mut self.host, key, behaviour, now),
                None => self.host.runtime.behave(key, behaviour, now),
            }
            self.note_usage(now);
            return Ok(());
        }
        if let MachineAction::TellHints(told) = action {
            self.tell_hints(told);
            return Ok(());
        }
        self.check(&action)?;
        match action {
            // systemd continues a stopped process, so that it gets the signal. Source: systemd.kill(5), `KillSignal=`.
            MachineAction::KubeletStop | MachineAction::KubeletKill => {
                self.stop_kubelet(if action == MachineAction::KubeletStop { "SIGTERM" } else { "SIGKILL" })?;
                self.go_down_if_due(now);
                Ok(())
            }
            MachineAction::KubeletStart if self.kubelet.is_some() => {
                misuse(&format!("the kubelet of machine {} runs already", self.name()))
            }
            MachineAction::KubeletStart => self.start_kubelet(now),
            MachineAction::KubeletRestart(spec) => self.restart_kubelet(spec, now),
            MachineAction::KubeletFreeze if self.kubelet.is_none() => {
                misuse(&format!("the kubelet of machine {} does not run", self.name()))
            }
            MachineAction::KubeletFreeze => {
                self.freeze(FreezeScope::Kubelet, now);
                Ok(())
            }
            MachineAction::KubeletThaw if self.frozen.is_none() => {
                misuse(&format!("the kubelet of machine {} is not frozen", self.name()))
            }
            MachineAction::Pause => {
                self.freeze(FreezeScope::Machine, now);
                Ok(())
            }
            MachineAction::Resume if !self.is_paused() => misuse(&format!("machine {} is not paused", self.name())),
            MachineAction::KubeletThaw | MachineAction::Resume => {
                self.go_on(now);
                Ok(())
            }
            MachineAction::PowerOff => self.power_off(now),
            MachineAction::PowerOn { .. } if self.is_powered => {
                misuse(&format!("machine {} has power already", self.name()))
            }
            MachineAction::PowerOn { boot_id } => self.power_on(boot_id, now),
            MachineAction::Reboot { boot_id } => {
                self.power_off(now)?;
                self.power_on(boot_id, now)
            }
            MachineAction::Shutdown { delay } => self.begin_shutdown(delay, now),
            MachineAction::AnnounceShutdown if self.shutdown.is_some() => {
                misuse(&format!("machine {} has announced a shutdown already", self.name()))
            }
            MachineAction::AnnounceShutdown => {
                self.announce_shutdown(now);
                Ok(())
            }
            MachineAction::CancelShutdown => self.cancel_shutdown(now),
            action => self.change_surroundings(action, now),
        }
    }

    /// Tells whether an action fits the state of the machine as a whole.
    fn check(&self, action: &MachineAction) -> Result<(), MachineError> {
        let misuse = |text: &str| Err(MachineError::Misuse(text.to_string()));
        let is_about_power = matches!(action, MachineAction::PowerOn { .. } | MachineAction::PowerOff);
        if !self.is_powered && !is_about_power && !matches!(action, MachineAction::Change(_)) {
            return misuse(&format!("machine {} has no power", self.name()));
        }
        if self.is_paused()
            && !matches!(action, MachineAction::Resume | MachineAction::PowerOff | MachineAction::Reboot { .. })
        {
            return misuse(&format!("machine {} is paused: resume it first", self.name()));
        }
        if self.frozen.is_some() && matches!(action, MachineAction::Pause | MachineAction::KubeletFreeze) {
            return misuse(&format!("the kubelet of machine {} is frozen: thaw it first", self.name()));
        }
        Ok(())
    }
}
