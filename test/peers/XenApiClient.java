import com.xensource.xenapi.*;
import java.net.URL;
import java.util.Map;
import java.util.Set;

/** Drives a pool with the official Java SDK (com.citrix.hypervisor:xen-api) and prints what it saw as JSON. */
public class XenApiClient {
  public static void main(String[] args) throws Exception {
    Connection connection = new Connection(new URL(args[0]));
    Session.loginWithPassword(connection, "root", "password", "1.0", "peer");
    Map<VM, VM.Record> vms = VM.getAllRecords(connection);
    int hosts = Host.getAllRecords(connection).size();
    int disks = VDI.getAllRecords(connection).size();
    VM vm = null;
    VM.Record record = null;
    for (Map.Entry<VM, VM.Record> entry : vms.entrySet()) {
      VM.Record one = entry.getValue();
      if (one.powerState == Types.VmPowerState.HALTED && !one.isATemplate && !one.isASnapshot) {
        vm = entry.getKey();
        record = one;
      }
    }
    EventBatch first = Event.from(connection, Set.of("VM"), "", 5.0);
    Task task = vm.startAsync(connection, false, false);
    while (task.getStatus(connection) == Types.TaskStatusType.PENDING) Thread.sleep(20);
    EventBatch second = Event.from(connection, Set.of("VM"), first.token, 5.0);
    String failure = "";
    try {
      vm.start(connection, false, false);
    } catch (Types.VmBadPowerState error) {
      failure = error.expected + "/" + error.actual;
    }
    System.out.printf(
        "{\"vms\":%d,\"hosts\":%d,\"disks\":%d,\"memory\":%d,\"status\":\"%s\",\"powerState\":\"%s\",\"failure\":\"%s\",\"first\":%d,\"second\":%d}%n",
        vms.size(), hosts, disks, record.memoryStaticMax, task.getStatus(connection),
        vm.getPowerState(connection), failure, first.events.size(), second.events.size());
    Session.logout(connection);
    System.exit(0);
  }
}
